"""Ending after speaking: what is being said is heard to its end first."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ending, ErrorClass, FaultSource, Link, Outcome, Reply, Timer, User, Voice
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, due, fall_silent, in_a_call, requests, speaking, up

LAST = Timer.LAST_WORDS


@pytest.mark.req("H-05")
def test_at_rest_the_conversation_ends_a_beat_later() -> None:
    stage = up()
    assert stage.happen(ev.EndAfterSpeaking) == ()
    assert stage.state.ending is Ending.CERTAIN
    assert stage.wait_for(LAST) == (fx.CloseSession(1),)
    assert (stage.at, stage.state.link, stage.state.ending) == (1, Link.TERMINATING, Ending.NO)


@pytest.mark.req("H-05")
def test_what_is_being_said_is_heard_to_its_end() -> None:
    stage = speaking()
    assert stage.happen(ev.EndAfterSpeaking) == ()
    stage.play(20_000)
    assert (stage.state.link, stage.state.voice) == (Link.UP, Voice.PLAYING)
    stage.finish()
    finished_at = stage.at
    assert stage.wait_for(LAST) == (fx.CloseSession(1),)
    assert stage.at == finished_at + 1
    assert stage.effects(fx.ReportLost) == stage.effects(fx.StopPlayback) == []


@pytest.mark.req("H-05")
def test_a_question_that_is_still_owed_is_answered_first() -> None:
    stage = asked()
    stage.happen(ev.EndAfterSpeaking)
    assert due(stage, LAST) == 0
    stage.answer()
    assert stage.wait_for(LAST) == (fx.CloseSession(1),)
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("H-05")
def test_an_open_call_is_waited_for() -> None:
    stage = in_a_call()
    stage.happen(ev.EndAfterSpeaking)
    stage.wait(20_000)
    assert stage.state.link is Link.UP
    stage.happen(ev.JobFinished)
    stage.answer()
    assert stage.wait_for(LAST) == (fx.CloseSession(1),)


@pytest.mark.req("H-05")
def test_a_tool_that_hangs_up_ends_the_conversation_after_the_words_beside_its_call() -> None:
    stage = asked()
    stage.think()
    stage.call_tool()
    stage.speak(600)
    stage.happen(ev.EndAfterSpeaking, withdrawable=True)
    assert stage.happen(ev.JobFinished, quiet=True) == (fx.PostOutput(1, Outcome.DONE),)
    assert not stage.state.news
    stage.finish()
    assert stage.wait_for(LAST) == (fx.CloseSession(1),)
    assert requests(stage) == [(1, 1)]
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("H-05")
def test_the_quiet_end_of_a_call_without_a_word_asks_the_brain_again() -> None:
    stage = in_a_call()
    assert stage.happen(ev.JobFinished, quiet=True) == (fx.PostOutput(1, Outcome.DONE), fx.StartReply(3, 1, 1))


# -- Interrupted


@pytest.mark.req("H-05")
def test_words_of_the_person_withdraw_an_end_that_is_not_certain() -> None:
    stage = speaking()
    stage.happen(ev.EndAfterSpeaking, withdrawable=True)
    assert stage.state.ending is Ending.UNLESS_OPPOSED
    stage.happen(ev.TextTyped)
    assert stage.state.ending is Ending.NO
    fall_silent(stage, heard_ms=600)
    stage.wait(1)
    stage.answer()
    stage.wait(60_000)
    assert stage.state.link is Link.UP


@pytest.mark.req("H-05")
def test_words_of_the_person_are_answered_before_a_certain_end() -> None:
    stage = speaking()
    stage.happen(ev.EndAfterSpeaking)
    stage.happen(ev.TextTyped)
    assert stage.state.ending is Ending.CERTAIN
    fall_silent(stage, heard_ms=600)
    stage.wait(1)
    assert requests(stage)[-1] == (2, 2)
    stage.answer()
    assert stage.wait_for(LAST) == (fx.CloseSession(1),)


@pytest.mark.req("H-05")
def test_the_end_waits_for_a_person_who_makes_a_sound() -> None:
    stage = up()
    stage.begin_talking()
    stage.happen(ev.EndAfterSpeaking)
    stage.wait(5_000)
    assert (stage.state.link, stage.state.user) == (Link.UP, User.TALKING)
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.SETTLE)
    assert stage.wait_for(LAST) == (fx.CloseSession(1),)


@pytest.mark.req("H-05")
@pytest.mark.parametrize("order", [(True, False), (False, True), (False, False)])
def test_an_end_that_was_certain_once_stays_certain(order: tuple[bool, bool]) -> None:
    stage = speaking()
    for withdrawable in order:
        stage.happen(ev.EndAfterSpeaking, withdrawable=withdrawable)
    assert stage.state.ending is Ending.CERTAIN


@pytest.mark.req("H-05")
def test_two_ends_that_can_be_withdrawn_can_be_withdrawn() -> None:
    stage = speaking()
    for _ in range(2):
        stage.happen(ev.EndAfterSpeaking, withdrawable=True)
    assert stage.state.ending is Ending.UNLESS_OPPOSED


# -- Where nothing can be said


def prepare() -> Stage:
    stage = Stage()
    stage.happen(ev.StartRequested)
    return stage


def lose() -> Stage:
    stage = asked()
    stage.happen(ev.LinkClosed)
    return stage


def reconnect() -> Stage:
    stage = lose()
    stage.wait_for(Timer.BACKOFF)
    return stage


def fault() -> Stage:
    stage = asked()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    return stage


@pytest.mark.req("H-05")
@pytest.mark.parametrize("scene", [prepare, lose, reconnect, fault])
def test_where_nothing_can_be_said_the_end_is_immediate(scene: object) -> None:
    stage = scene()  # type: ignore[operator]
    session = stage.state.session_id
    assert stage.happen(ev.EndAfterSpeaking)[0] == fx.CloseSession(session)
    assert stage.state.link is Link.TERMINATING


@pytest.mark.req("H-05")
@pytest.mark.parametrize("pause", [ev.SuspendRequested, ev.LinkWobbled])
def test_an_end_that_is_asked_for_in_a_pause_comes_after_it(pause: type[ev.Event]) -> None:
    stage = speaking()
    stage.happen(pause)
    assert stage.happen(ev.EndAfterSpeaking) == ()
    stage.wait(1_000)
    stage.happen(ev.ResumeRequested if pause is ev.SuspendRequested else ev.LinkHealed)
    assert stage.state.link is Link.UP
    stage.finish()
    assert stage.wait_for(LAST) == (fx.CloseSession(1),)


@pytest.mark.req("H-05")
def test_an_end_outlasts_a_lost_line() -> None:
    stage = asked()
    stage.happen(ev.EndAfterSpeaking)
    stage.happen(ev.LinkClosed)
    stage.wait_for(Timer.BACKOFF)
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert stage.state.reply is Reply.COMMITTING
    stage.answer()
    stage.wait_for(LAST)
    assert stage.state.link is Link.TERMINATING
