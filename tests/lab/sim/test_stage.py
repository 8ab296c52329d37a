"""The stage: current ids are filled in, and deadlines fire by themselves."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, Link, Reply, Timer, Voice
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage
from duologue.replay.journal import read_journal, replay
from tests.core.scenes import asked, speaking, up


def test_an_event_gets_the_current_ids() -> None:
    stage = asked()
    event = stage.make(ev.ReplyAccepted)
    assert event == ev.ReplyAccepted(stage.at, stage.state.reply_id)
    assert stage.state.reply is Reply.COMMITTING, "it is not applied yet"


def test_a_given_id_makes_an_event_stale() -> None:
    stage = asked()
    assert stage.happen(ev.ReplyAccepted, reply=stage.state.reply_id - 1) == ()
    assert stage.state.reply is Reply.COMMITTING


def test_deadlines_fire_while_time_passes() -> None:
    stage = Stage(profile("confirm"))
    stage.happen(ev.StartRequested)
    stage.wait(stage.settings.prepare_ms_max - 1)
    assert stage.state.link is Link.PREPARING
    stage.wait(1)
    assert stage.state.link is Link.FAULTED
    assert stage.at == stage.settings.prepare_ms_max


def test_waiting_for_a_deadline_returns_its_effects() -> None:
    stage = up(dead_air_ms=10_000)
    assert [type(effect) for effect in stage.wait_for(Timer.DEAD_AIR)] == [fx.StartReply]
    assert stage.at == 10_000


def test_waiting_for_a_deadline_that_never_fires_is_an_error() -> None:
    with pytest.raises(AssertionError, match="the deadline prepare never fires"):
        Stage().wait_for(Timer.PREPARE)


def test_an_interruption_stops_playback() -> None:
    stage = speaking()
    assert fx.StopPlayback(stage.state.voice_id) in stage.interrupt()
    assert stage.state.voice is Voice.STOPPING


def test_a_whole_answer_is_heard() -> None:
    stage = asked()
    stage.answer(for_ms=1_000)
    assert stage.state.answered == stage.state.said == 1
    assert len(stage.effects(fx.StartPlayback)) == 1


def test_a_failed_reply_is_retried() -> None:
    stage = asked()
    stage.fail_reply(ErrorClass.SERVER_ERROR)
    assert stage.state.reply is Reply.RETRYING


def test_a_cough_is_not_a_turn() -> None:
    stage = up()
    stage.cough()
    stage.wait_for(Timer.SETTLE)
    assert stage.state.said == 0


def test_a_call_gets_a_new_id() -> None:
    stage = asked()
    stage.think()
    assert (stage.call_tool(), stage.call_tool()) == (1, 2)


def test_views_are_recorded_without_repetitions() -> None:
    stage = asked()
    seen = stage.views()
    assert seen[-1] == stage.view()
    assert all(before != after for before, after in pairwise(seen))


def test_each_step_is_watched() -> None:
    stage = Stage()
    seen: list[object] = []
    stage.watch = seen.append
    stage.start()
    assert seen == stage.records


def test_the_journal_of_a_stage_replays() -> None:
    stage = speaking()
    out = io.StringIO()
    stage.write_journal(out)
    assert [step.after for step in replay(read_journal(io.StringIO(out.getvalue())))] == [
        record.after for record in stage.records
    ]
