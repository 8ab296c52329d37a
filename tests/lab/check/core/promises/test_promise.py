"""The conditions that promises share."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Link, Reply, Timer, User
from duologue.lab.check.core.laws import CheckedStep
from duologue.lab.check.core.promises.promise import (
    Promise,
    asks,
    does,
    goes,
    index,
    is_open,
    never,
    quiet_floor,
    trigger_of,
)
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, in_a_call, up


def last_step(stage: Stage) -> CheckedStep:
    record = stage.records[-1]
    return CheckedStep(record.before, record.event, record.after, record.effects)


def test_a_promise_is_found_by_each_of_its_events() -> None:
    promise = Promise("a name", (ev.TurnEnded, Timer.SETTLE), lambda s, e: True, lambda step: True)
    assert index([promise]) == {ev.TurnEnded: [promise], Timer.SETTLE: [promise]}


def test_the_trigger_of_a_timer_is_the_timer() -> None:
    assert trigger_of(ev.TimerFired(5, Timer.BEAT, 5)) is Timer.BEAT
    assert trigger_of(ev.SpeechStarted(5, 1)) is ev.SpeechStarted


def test_the_end_of_a_turn_commits_audio_and_asks() -> None:
    step = last_step(asked())
    assert does(step, fx.CommitAudio, fx.StartReply)
    assert not does(step, fx.CommitAudio, fx.StopPlayback)
    assert never(step, fx.StopPlayback, fx.HoldPlayback)
    assert not never(step, fx.StopPlayback, fx.StartReply)


def test_goes_means_all_of_the_leaves() -> None:
    step = last_step(asked())
    assert goes(step, User.QUIET, Reply.COMMITTING)
    assert not goes(step, User.QUIET, Reply.NONE)
    assert not goes(step, Link.FAULTED)


def test_asks_means_one_request_up_to_this_turn() -> None:
    step = last_step(asked())
    assert asks(step, 1)
    assert not asks(step, 2)
    assert not asks(last_step(up()), 0)


def test_the_floor_is_quiet_until_a_reply_or_a_call_is_open() -> None:
    assert quiet_floor(up().state)
    assert not quiet_floor(asked().state)
    assert not quiet_floor(in_a_call().state)


def test_a_turn_is_open_while_the_user_talks() -> None:
    stage = up()
    assert not is_open(stage.state)
    stage.begin_talking()
    assert is_open(stage.state)
