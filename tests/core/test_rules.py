"""The rules that join the regions: what a fault cancels, and that listening is never skipped."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    Cue,
    ErrorClass,
    FaultSource,
    JobKind,
    Outcome,
)
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, fall_silent, requests, speaking, when


def with_a_call_and_a_job() -> Stage:
    """Call 1 was dispatched, call 2 is open."""
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    assert [(job.call, job.kind) for job in stage.state.jobs] == [(1, JobKind.DISPATCHED), (2, JobKind.TOOL)]
    return stage


# -- M-04: what a fault and a lost link cancel


@pytest.mark.req("M-04")
def test_a_fault_cancels_the_open_call_with_one_output_and_keeps_the_job() -> None:
    stage = with_a_call_and_a_job()
    effects = stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    assert effects == (
        fx.ShowFault(FaultSource.EARS, ErrorClass.UNKNOWN, fatal=False),
        fx.ReportLost(1, 1),
        fx.PlayCue(Cue.CALL_MADE),
        fx.CancelWork(2),
        fx.PostOutput(2, Outcome.CANCELLED),
    )
    assert [(job.call, job.kind) for job in stage.state.jobs] == [(1, JobKind.DISPATCHED)]


@pytest.mark.req("M-04")
def test_a_lost_link_cancels_no_work() -> None:
    stage = with_a_call_and_a_job()
    jobs = stage.state.jobs
    assert stage.happen(ev.LinkClosed) == (fx.SaveContext(),)
    assert stage.state.jobs == jobs
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    assert stage.state.jobs == jobs
    stage.happen(ev.JobFinished, call=2)
    assert stage.effects(fx.PostOutput)[-1] == fx.PostOutput(2, Outcome.DONE)


# -- M-10: listening is never skipped


@pytest.mark.req("M-10", "C-AC-007")
def test_news_that_came_during_speech_is_asked_one_beat_after_it() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.speak(1_000)
    stage.happen(ev.JobFinished)
    assert stage.finish() == ()
    finished_at = stage.at
    stage.wait(1)
    assert when(stage, fx.StartReply)[1:] == [finished_at + 1]
    assert stage.views("conversation")[-3:] == ["speaking", "listening", "processing"]


@pytest.mark.req("M-10")
def test_a_turn_queued_behind_an_interruption_is_asked_one_beat_after_silence() -> None:
    stage = speaking()
    stage.happen(ev.TextTyped)
    fall_silent(stage, heard_ms=700)
    silent_at = stage.at
    assert requests(stage) == [(1, 1)]
    stage.wait(1)
    assert when(stage, fx.StartReply)[1:] == [silent_at + 1]
    assert stage.views("conversation")[-4:] == ["speaking", "interrupted", "listening", "processing"]


@pytest.mark.req("M-10")
def test_the_beat_is_a_setting() -> None:
    stage = speaking(beat_ms=40)
    stage.happen(ev.TextTyped)
    fall_silent(stage, heard_ms=700)
    stage.wait(39)
    assert requests(stage) == [(1, 1)]
    stage.wait(1)
    assert requests(stage) == [(1, 1), (2, 2)]
