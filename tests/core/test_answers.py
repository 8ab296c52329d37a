"""Which turns are owed again after a lost line, and which are reported as lost."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, Cue, ErrorClass, FaultSource, Timer
from duologue.lab.sim.stage import Stage
from tests.core.scenes import ASKED_AT, asked, in_a_call, requests, speaking, when


def reconnect(stage: Stage) -> None:
    """The line is lost and is back after one attempt."""
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(1)


# -- M-12: after a reconnect


@pytest.mark.req("M-12")
def test_after_a_reconnect_an_utterance_is_asked_once_more() -> None:
    stage = asked()
    reconnect(stage)
    assert requests(stage) == [(1, 1), (1, 1)]
    assert when(stage, fx.StartReply)[1:] == [ASKED_AT + 1_001]
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("M-12")
def test_each_reconnect_asks_once_more_until_the_line_was_lost_too_often_and_that_is_reported() -> None:
    stage = asked()
    for _ in range(stage.state.settings.line_losses_max):
        reconnect(stage)
    assert requests(stage) == [(1, 1)] * 4
    assert stage.effects(fx.ReportLost) == []
    assert stage.happen(ev.LinkClosed)[-2:] == (fx.ReportLost(1, 1), fx.PlayCue(Cue.APOLOGY))
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)] * 4


@pytest.mark.req("M-12", "M-05")
def test_a_question_that_is_lost_with_the_output_of_its_call_is_not_asked_again_by_itself() -> None:
    # Once, the person was told that this got no answer, and then the output of the call was sent to the brain.
    stage = in_a_call()
    stage.happen(ev.JobFinished)
    for _ in range(stage.state.settings.line_losses_max):
        reconnect(stage)
    count = len(requests(stage))
    assert stage.happen(ev.LinkClosed)[-2:] == (fx.ReportLost(1, 1), fx.PlayCue(Cue.CALL_MADE))
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(60_000)
    assert len(requests(stage)) == count


@pytest.mark.req("M-12")
def test_losses_of_an_earlier_utterance_do_not_count_for_one_that_was_asked_again_after_a_fault() -> None:
    stage = asked()
    for _ in range(stage.state.settings.line_losses_max):
        reconnect(stage)
    stage.answer()
    stage.say()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    stage.wait_for(Timer.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert requests(stage)[-2:] == [(2, 2)] * 2
    for _ in range(stage.state.settings.line_losses_max):
        reconnect(stage)
    assert requests(stage)[-5:] == [(2, 2)] * 5
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("M-12")
def test_an_utterance_whose_answer_was_heard_is_not_asked_again() -> None:
    stage = speaking(heard_ms=200)
    effects = stage.happen(ev.LinkClosed)
    assert effects == (fx.SaveContext(), fx.StopPlayback(1), fx.CancelReply(1), fx.TruncateReply(1, 200))
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(5_000)
    assert stage.effects(fx.StartReply)[1:] == [fx.StartReply(3, 2, 1, Ask.OFFER)], "only its rest is said, if any"


@pytest.mark.req("M-12")
def test_an_utterance_whose_answer_sounded_but_was_not_heard_is_asked_again() -> None:
    stage = speaking(heard_ms=0)
    reconnect(stage)
    assert requests(stage) == [(1, 1), (1, 1)]


@pytest.mark.req("M-12")
def test_an_answer_that_was_heard_gives_the_next_utterance_its_own_second_try() -> None:
    stage = asked()
    reconnect(stage)
    stage.answer()
    stage.say()
    reconnect(stage)
    assert requests(stage) == [(1, 1), (1, 1), (2, 2), (2, 2)]
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("M-12")
def test_a_dismissed_fault_gives_the_next_utterance_its_own_second_try() -> None:
    stage = asked()
    reconnect(stage)
    stage.fail_reply(ErrorClass.UNKNOWN)
    stage.happen(ev.DismissRequested)
    stage.happen(ev.SessionReady)
    stage.say()
    reconnect(stage)
    assert requests(stage)[-2:] == [(2, 2), (2, 2)]


@pytest.mark.req("M-12")
def test_an_utterance_that_was_asked_once_is_not_lost_with_one_that_was_asked_twice() -> None:
    stage = asked()
    stage.happen(ev.LinkClosed)
    stage.say()
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert requests(stage)[-1] == (1, 2)
    reconnect(stage)
    assert requests(stage)[-1][1] == 2
    assert all(lost.last < 2 for lost in stage.effects(fx.ReportLost))
