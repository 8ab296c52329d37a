"""Calls, delegated and dispatched jobs: progress, limits, and exactly one end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, Cue, ErrorClass, FaultSource, JobKind, Link, Outcome, Reply, Timer, Voice
from duologue.core.settings import profile
from duologue.core.state import is_at_rest
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, in_a_call, requests, speaking

CALLED_AT = 1_450  # when the call of `calling` was made
CALL = 1


def thinking(name: str = "confirm", **changes: int) -> Stage:
    """Turn 1 was asked by reply 1, which has its first token."""
    stage = Stage(profile(name, greets=False, dead_air_ms=0, **changes))
    stage.start()
    stage.say()
    stage.think()
    return stage


def calling(cancellable: bool = False, **changes: int) -> Stage:
    """Reply 1 has made one call and ended; the call runs."""
    stage = thinking(**changes)
    stage.call_tool(cancellable)
    stage.happen(ev.ReplyFinished)
    return stage


def delegating() -> Stage:
    stage = calling()
    stage.happen(ev.CallDelegated)
    return stage


def dispatching() -> Stage:
    """The job runs in the background, and the answer that announced it was heard."""
    stage = calling()
    stage.happen(ev.CallDispatched)
    stage.answer()
    return stage


def seen_at(stage: Stage, kind: type[fx.Effect]) -> list[int]:
    """When effects of this kind left, counted from the call."""
    return [
        record.event.at - CALLED_AT for record in stage.records for effect in record.effects if type(effect) is kind
    ]


def talk_on(stage: Stage) -> None:
    """A whole turn of the person, up to its endpoint."""
    stage.say()


# -- A call and its result


@pytest.mark.req("L-07")
def test_a_call_is_run() -> None:
    stage = thinking()
    assert stage.happen(ev.ToolCalled, call=7) == (fx.RunCall(7),)
    assert [(job.call, job.kind) for job in stage.state.jobs] == [(7, JobKind.TOOL)]


@pytest.mark.req("L-07")
def test_a_result_goes_back_to_the_brain_and_the_reply_goes_on_in_the_same_step() -> None:
    stage = calling()
    stage.wait(800)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE), fx.StartReply(3, 1, 1))
    assert stage.views("lifecycle")[-2:] == ["tool_executing", "processing"]


@pytest.mark.req("L-07")
def test_a_result_that_comes_before_the_reply_has_ended_waits_for_its_end() -> None:
    stage = thinking()
    stage.call_tool()
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE),)
    assert stage.happen(ev.ReplyFinished) == ()
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(3, 1, 1),)


@pytest.mark.req("L-07")
def test_a_result_that_comes_while_the_call_is_announced_waits_for_the_end_of_the_sound() -> None:
    stage = thinking()
    stage.call_tool()
    stage.speak(1_000)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE),)
    assert stage.finish() == ()
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(3, 2, 1),)  # turn 1 has its answer; this tells the result


@pytest.mark.req("L-07")
def test_two_results_go_back_in_one_request_after_the_last_of_them() -> None:
    stage = thinking()
    first, second = stage.call_tool(), stage.call_tool()
    stage.happen(ev.ReplyFinished)
    assert stage.happen(ev.JobFinished, call=second) == (fx.PostOutput(second, Outcome.DONE),)
    assert stage.happen(ev.JobFinished, call=first) == (fx.PostOutput(first, Outcome.DONE), fx.StartReply(3, 1, 1))


@pytest.mark.req("L-07", "L-11")
def test_a_call_ends_after_thirty_seconds_exactly_and_its_partial_result_goes_back() -> None:
    stage = calling()
    stage.wait(29_999)
    assert stage.effects(fx.PostOutput) == []
    stage.wait(1)
    assert stage.records[-1].effects == (
        fx.CancelWork(CALL),
        fx.PostOutput(CALL, Outcome.TIMED_OUT),
        fx.StartReply(3, 1, 1),
    )


@pytest.mark.req("L-07", "M-05")
def test_a_reply_that_breaks_off_after_its_call_is_asked_again_with_the_output() -> None:
    stage = thinking()
    stage.call_tool()
    assert stage.fail_reply(ErrorClass.RATE_LIMIT) == (fx.CancelReply(1),)
    assert (stage.state.link, stage.state.reply) == (Link.UP, Reply.NONE)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE), fx.StartReply(3, 1, 1))


@pytest.mark.req("L-07", "M-05")
def test_a_reply_that_hangs_after_its_call_is_given_up_after_thirty_seconds_without_a_fault() -> None:
    stage = thinking()
    stage.call_tool()
    stage.happen(ev.CallDelegated)
    assert stage.wait_for(Timer.ANSWER) == (fx.CancelReply(1),)
    assert stage.view("lifecycle") == "waiting_amplifier"
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE), fx.StartReply(3, 1, 1))


# -- Talking during a call


@pytest.mark.req("L-08")
def test_speech_during_a_tool_leaves_the_tool_alone() -> None:
    stage = calling()
    talk_on(stage)
    assert stage.view("lifecycle") == "tool_executing"
    assert stage.effects(fx.CancelWork) == []
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("L-08", "M-03")
def test_speech_during_a_tool_is_answered_together_with_the_result() -> None:
    stage = calling()
    talk_on(stage)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE), fx.StartReply(3, 1, 2))


@pytest.mark.req("L-08", "M-03")
def test_a_result_in_mid_speech_waits_for_the_end_of_the_turn() -> None:
    stage = calling()
    stage.begin_talking()
    stage.hear_words(3, final=True)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE),)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 1, 2))


@pytest.mark.req("L-08", "M-03")
def test_a_typed_turn_during_a_tool_is_queued_too() -> None:
    stage = calling()
    assert stage.happen(ev.TextTyped) == ()
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE), fx.StartReply(3, 1, 2))


@pytest.mark.req("L-08", "M-03")
def test_words_do_not_supersede_a_reply_whose_call_is_open() -> None:
    stage = thinking()
    stage.call_tool()
    stage.begin_talking()
    assert stage.hear_words(4) == ()
    assert stage.state.reply is Reply.GENERATING


@pytest.mark.req("L-08", "M-03")
def test_late_text_of_the_question_is_queued_while_its_call_is_announced() -> None:
    stage = thinking()
    stage.call_tool()
    stage.speak()
    stage.hear_words(5, final=True)
    stage.play(400)
    stage.finish()
    stage.happen(ev.JobFinished)
    asked_again = [ask for ask in stage.effects(fx.StartReply)[1:] if ask.first <= 1 <= ask.last]
    assert asked_again or stage.effects(fx.RecordOverheard) == [fx.RecordOverheard(1)]


# -- A delegated job


@pytest.mark.req("L-09")
def test_a_delegated_call_is_waited_for() -> None:
    stage = calling()
    assert stage.happen(ev.CallDelegated) == ()
    assert stage.views("lifecycle")[-2:] == ["tool_executing", "waiting_amplifier"]
    assert stage.view("conversation") == "waitingForCopilot"


@pytest.mark.req("L-09")
def test_progress_of_a_job_is_shown() -> None:
    stage = delegating()
    assert stage.happen(ev.JobProgressed) == (fx.ShowProgress(CALL),)


@pytest.mark.req("L-09")
def test_a_job_without_progress_for_sixty_seconds_is_warned_of_once() -> None:
    stage = delegating()
    stage.wait(299_000)
    assert seen_at(stage, fx.WarnSilentJob) == [60_000]
    assert stage.view("lifecycle") == "waiting_amplifier"


@pytest.mark.req("L-09")
def test_progress_postpones_the_warning() -> None:
    stage = delegating()
    stage.wait(59_999)
    stage.happen(ev.JobProgressed)
    stage.wait(59_999)
    assert stage.effects(fx.WarnSilentJob) == []
    stage.wait(1)
    assert seen_at(stage, fx.WarnSilentJob) == [119_999]


@pytest.mark.req("L-09")
def test_a_job_that_was_warned_of_is_watched_again_after_progress() -> None:
    stage = delegating()
    stage.wait(100_000)
    stage.happen(ev.JobProgressed)
    stage.wait(60_000)
    assert seen_at(stage, fx.WarnSilentJob) == [60_000, 160_000]


@pytest.mark.req("L-09", "L-11", "C-AC-008")
def test_a_delegated_job_ends_after_five_minutes_exactly() -> None:
    stage = calling()
    stage.wait(2_000)
    stage.happen(ev.CallDelegated)
    stage.wait(299_999)
    assert stage.effects(fx.PostOutput) == []
    stage.wait(1)
    assert stage.records[-1].effects == (
        fx.CancelWork(CALL),
        fx.PostOutput(CALL, Outcome.TIMED_OUT),
        fx.StartReply(3, 1, 1),
    )


@pytest.mark.req("L-09", "L-08")
def test_speech_while_a_job_is_waited_for_is_queued() -> None:
    stage = delegating()
    talk_on(stage)
    assert stage.view("lifecycle") == "waiting_amplifier"
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE), fx.StartReply(3, 1, 2))


# -- Cancelling


@pytest.mark.req("L-09", "M-16")
@pytest.mark.parametrize("scene", [calling, delegating])
def test_cancelled_work_gives_its_output_goes_to_idle_and_asks_nothing(scene: Callable[[], Stage]) -> None:
    stage = scene()
    assert stage.happen(ev.CancelRequested) == (fx.CancelWork(CALL), fx.PostOutput(CALL, Outcome.CANCELLED))
    assert stage.view("lifecycle") == "idle"
    stage.wait(60_000)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("L-09", "M-16")
def test_what_was_queued_behind_cancelled_work_is_asked_without_it() -> None:
    stage = delegating()
    talk_on(stage)
    assert stage.happen(ev.CancelRequested) == (
        fx.CancelWork(CALL),
        fx.PostOutput(CALL, Outcome.CANCELLED),
        fx.StartReply(3, 2, 2),
    )


@pytest.mark.req("M-16")
def test_cancelling_one_of_two_calls_leaves_the_question_to_the_other() -> None:
    stage = thinking()
    first, second = stage.call_tool(), stage.call_tool()
    stage.happen(ev.ReplyFinished)
    assert stage.happen(ev.CancelRequested, call=first) == (
        fx.CancelWork(first),
        fx.PostOutput(first, Outcome.CANCELLED),
    )
    assert stage.happen(ev.JobFinished, call=second) == (fx.PostOutput(second, Outcome.DONE), fx.StartReply(3, 1, 1))


@pytest.mark.req("M-16")
def test_work_that_is_cancelled_before_its_reply_has_ended_asks_nothing_either() -> None:
    stage = thinking()
    stage.call_tool()
    stage.happen(ev.CancelRequested)
    stage.happen(ev.ReplyFinished)
    stage.wait(1_000)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("M-16")
def test_a_cancelled_dispatched_job_has_its_end_and_causes_no_request() -> None:
    stage = dispatching()
    assert stage.happen(ev.CancelRequested) == (fx.CancelWork(CALL), fx.PostNews(CALL, Outcome.CANCELLED))
    stage.wait(60_000)
    assert len(stage.effects(fx.StartReply)) == 2


# -- Feedback to the person who waits


@pytest.mark.req("L-10")
def test_feedback_on_a_wait_comes_at_five_fifteen_and_thirty_seconds() -> None:
    stage = delegating()
    stage.wait(200_000)
    assert seen_at(stage, fx.ShowWait) == [5_000, 15_000, 30_000]
    assert stage.effects(fx.ShowWait) == [fx.ShowWait(CALL, 1), fx.ShowWait(CALL, 2), fx.ShowWait(CALL, 3)]


@pytest.mark.req("L-10")
def test_the_wait_is_counted_from_the_call_though_it_is_delegated_later() -> None:
    stage = calling()
    stage.wait(12_000)
    stage.happen(ev.CallDelegated)
    stage.wait(100_000)
    assert seen_at(stage, fx.ShowWait) == [5_000, 15_000, 30_000]


@pytest.mark.req("L-10")
def test_a_short_tool_needs_no_feedback() -> None:
    stage = calling()
    stage.wait(4_999)
    stage.happen(ev.JobFinished)
    stage.answer()
    stage.wait(60_000)
    assert stage.effects(fx.ShowWait) == []


@pytest.mark.req("L-10")
def test_a_dispatched_job_gives_no_feedback_about_waiting() -> None:
    stage = dispatching()
    stage.wait(200_000)
    assert stage.effects(fx.ShowWait) == []


@pytest.mark.req("L-10")
def test_progress_does_not_disturb_the_feedback() -> None:
    stage = delegating()
    stage.wait(4_000)
    stage.happen(ev.JobProgressed)
    stage.wait(40_000)
    assert seen_at(stage, fx.ShowWait) == [5_000, 15_000, 30_000]


# -- A tool that fails


@pytest.mark.req("L-18")
@pytest.mark.parametrize("error", list(ErrorClass))
def test_a_failed_tool_is_reported_to_the_brain_and_is_never_an_error(error: ErrorClass) -> None:
    stage = calling()
    assert stage.happen(ev.JobFailed, error=error) == (fx.PostOutput(CALL, Outcome.FAILED), fx.StartReply(3, 1, 1))
    assert stage.view("lifecycle") == "processing"
    stage.answer()
    assert stage.effects(fx.ShowFault) == []
    assert stage.state.answered == 1


@pytest.mark.req("L-18")
def test_a_failed_delegated_job_is_reported_to_the_brain_too() -> None:
    stage = delegating()
    assert stage.happen(ev.JobFailed) == (fx.PostOutput(CALL, Outcome.FAILED), fx.StartReply(3, 1, 1))


@pytest.mark.req("L-18")
def test_a_failed_dispatched_job_is_news() -> None:
    stage = dispatching()
    assert stage.happen(ev.JobFailed) == (fx.PostNews(CALL, Outcome.FAILED),)
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(5, 2, 1),)


# -- A dispatched job


@pytest.mark.req("L-09")
def test_a_dispatched_call_is_answered_at_once_and_its_job_goes_on() -> None:
    stage = calling()
    assert stage.happen(ev.CallDispatched) == (fx.PostOutput(CALL, Outcome.STARTED), fx.StartReply(3, 1, 1))
    assert [job.kind for job in stage.state.jobs] == [JobKind.DISPATCHED]
    assert stage.view("lifecycle") == "processing"


@pytest.mark.req("L-09")
def test_people_talk_while_a_dispatched_job_runs() -> None:
    stage = dispatching()
    stage.say()
    stage.answer()
    assert stage.state.answered == 2
    assert [job.kind for job in stage.state.jobs] == [JobKind.DISPATCHED]


@pytest.mark.req("L-09")
def test_a_dispatched_job_speaks_up_when_the_floor_is_free() -> None:
    stage = dispatching()
    stage.wait(1_000)
    assert stage.happen(ev.JobFinished) == (fx.PostNews(CALL, Outcome.DONE),)
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(5, 2, 1),)


@pytest.mark.req("L-09")
def test_a_dispatched_job_waits_until_the_agent_has_finished() -> None:
    stage = dispatching()
    stage.say()
    stage.think()
    stage.speak(400)
    assert stage.happen(ev.JobFinished) == (fx.PostNews(CALL, Outcome.DONE),)
    stage.play(2_000)
    assert len(stage.effects(fx.StartReply)) == 3
    stage.finish()
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(7, 3, 2),)


@pytest.mark.req("L-09")
def test_a_dispatched_job_waits_until_the_person_has_finished_and_is_told_with_their_answer() -> None:
    stage = dispatching()
    stage.begin_talking()
    assert stage.happen(ev.JobFinished) == (fx.PostNews(CALL, Outcome.DONE),)
    stage.hear_words(3, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(5, 2, 2))
    stage.answer()
    stage.wait(60_000)
    assert len(stage.effects(fx.StartReply)) == 3


@pytest.mark.req("L-09")
def test_news_that_was_interrupted_before_it_was_heard_is_told_again() -> None:
    stage = dispatching()
    stage.happen(ev.JobFinished)
    stage.wait(1)
    stage.think()
    stage.speak()
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=0)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    stage.wait(400)
    assert stage.state.news
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(7, 2, 2))


@pytest.mark.req("L-09")
def test_a_dispatched_job_is_watched_and_ends_after_half_an_hour() -> None:
    stage = calling(session_ms_max=0, session_warning_ms=0)
    stage.happen(ev.CallDispatched)
    stage.answer()
    stage.wait(CALLED_AT + 1_799_999 - stage.at)
    assert seen_at(stage, fx.WarnSilentJob) == [60_000]
    assert stage.effects(fx.PostNews) == []
    stage.wait(1)
    assert stage.effects(fx.PostNews) == [fx.PostNews(CALL, Outcome.TIMED_OUT)]
    assert fx.CancelWork(CALL) in stage.effects(fx.CancelWork)


@pytest.mark.req("M-17")
def test_silence_is_not_broken_while_a_dispatched_job_runs() -> None:
    stage = Stage(profile("confirm", dead_air_ms=20_000))
    stage.start()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.wait(1)
    stage.answer()
    stage.wait(120_000)
    assert [ask.ask for ask in stage.effects(fx.StartReply)] == [Ask.ANSWER, Ask.ANSWER]


# -- A worker that asks back


@pytest.mark.req("L-09")
def test_a_workers_question_answers_the_call_and_reaches_the_person() -> None:
    stage = delegating()
    assert stage.happen(ev.JobAsked) == (fx.PostOutput(CALL, Outcome.NEEDS_INPUT), fx.StartReply(3, 1, 1))
    assert [job.kind for job in stage.state.jobs] == [JobKind.DISPATCHED]


@pytest.mark.req("L-09")
def test_a_second_question_and_the_end_of_the_job_are_news() -> None:
    stage = delegating()
    stage.happen(ev.JobAsked)
    stage.answer()
    assert stage.happen(ev.JobAsked) == (fx.PostNews(CALL, Outcome.NEEDS_INPUT),)
    stage.wait(1)
    stage.answer()
    assert stage.happen(ev.JobFinished) == (fx.PostNews(CALL, Outcome.DONE),)
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(CALL, Outcome.NEEDS_INPUT)]


# -- Being talked over


@pytest.mark.req("L-08")
@pytest.mark.parametrize("command", [ev.PttPressed, ev.TextTyped, ev.InterruptRequested])
def test_work_survives_a_barge_in(command: type[ev.Event]) -> None:
    stage = thinking()
    stage.call_tool()
    stage.speak(400)
    stage.happen(command)
    assert stage.effects(fx.CancelWork) == []
    assert [job.kind for job in stage.state.jobs] == [JobKind.TOOL]


@pytest.mark.req("L-08")
@pytest.mark.parametrize("command", [ev.PttPressed, ev.TextTyped, ev.InterruptRequested])
def test_work_that_may_be_cancelled_ends_with_the_sound_that_announced_it(command: type[ev.Event]) -> None:
    stage = thinking()
    stage.call_tool(cancellable=True)
    stage.speak(400)
    assert stage.happen(command) == (
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.CancelWork(CALL),
        fx.PostOutput(CALL, Outcome.CANCELLED),
    )


@pytest.mark.req("L-08", "L-09")
@pytest.mark.parametrize("command", [ev.PttPressed, ev.TextTyped, ev.InterruptRequested, ev.OverlapJudged])
def test_a_delegated_job_that_may_be_cancelled_ends_likewise(command: type[ev.Event]) -> None:
    stage = thinking()
    stage.call_tool(cancellable=True)
    stage.happen(ev.CallDelegated)
    stage.speak(400)
    stage.happen(command, **{"bid": True} if command is ev.OverlapJudged else {})
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(CALL, Outcome.CANCELLED)]
    assert stage.state.jobs == ()


@pytest.mark.req("L-08", "L-09")
@pytest.mark.parametrize("delegated", [True, False])
def test_in_immediate_the_onset_ends_work_that_may_be_cancelled(delegated: bool) -> None:
    stage = thinking("immediate")
    stage.call_tool(cancellable=True)
    if delegated:
        stage.happen(ev.CallDelegated)
    stage.speak(400)
    assert stage.happen(ev.SpeechStarted) == (
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.CancelWork(CALL),
        fx.PostOutput(CALL, Outcome.CANCELLED),
    )


@pytest.mark.req("L-08")
def test_work_that_may_be_cancelled_survives_a_sound_that_is_no_bid() -> None:
    stage = thinking()
    stage.call_tool(cancellable=True)
    stage.speak(400)
    stage.cough()
    stage.happen(ev.OverlapJudged, bid=False)
    assert [job.kind for job in stage.state.jobs] == [JobKind.TOOL]


@pytest.mark.req("L-08")
def test_work_that_may_be_cancelled_survives_speech_while_nothing_sounds() -> None:
    stage = calling(cancellable=True)
    talk_on(stage)
    assert [job.kind for job in stage.state.jobs] == [JobKind.TOOL]


@pytest.mark.req("M-16")
def test_a_command_to_stop_cancels_the_call_and_asks_nothing() -> None:
    stage = calling(cancellable=True)
    assert stage.happen(ev.InterruptRequested) == (fx.CancelWork(CALL), fx.PostOutput(CALL, Outcome.CANCELLED))
    stage.wait(1_000)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


# -- One output


@pytest.mark.req("L-07")
def test_a_call_too_many_is_refused_with_its_output() -> None:
    stage = thinking(jobs_max=1)
    stage.call_tool()
    assert stage.happen(ev.ToolCalled, call=2) == (fx.PostOutput(2, Outcome.REFUSED),)
    assert [job.call for job in stage.state.jobs] == [1]


@pytest.mark.req("L-07")
def test_the_brain_hears_of_a_refused_call() -> None:
    stage = thinking(jobs_max=0)
    assert stage.happen(ev.ToolCalled, call=1) == (fx.PostOutput(1, Outcome.REFUSED),)
    stage.happen(ev.ReplyFinished)
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(3, 1, 1),)


@pytest.mark.req("L-07")
def test_a_refused_call_has_no_second_end() -> None:
    stage = thinking(jobs_max=0)
    stage.happen(ev.ToolCalled, call=1)
    after = stage.state
    for kind in (ev.JobFinished, ev.JobFailed, ev.CancelRequested):
        assert stage.happen(kind, call=1) == ()
    assert stage.state is after


ENDINGS = (ev.JobFinished, ev.JobFailed, ev.CancelRequested)


@pytest.mark.req("L-07", "M-16", "M-20")
@pytest.mark.parametrize("first", ENDINGS)
@pytest.mark.parametrize("second", ENDINGS)
def test_a_call_gets_exactly_one_output(first: type[ev.Event], second: type[ev.Event]) -> None:
    stage = delegating()
    stage.happen(first, call=CALL)
    after = stage.state
    assert stage.happen(second, call=CALL) == ()
    assert stage.state is after
    assert len(stage.effects(fx.PostOutput)) == 1


@pytest.mark.req("L-07", "M-20")
def test_a_result_after_the_limit_is_too_late() -> None:
    stage = calling()
    stage.wait_for(Timer.JOB)
    assert stage.happen(ev.JobFinished, call=CALL) == ()
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(CALL, Outcome.TIMED_OUT)]


@pytest.mark.req("M-20")
def test_a_repeated_call_does_not_reopen_a_finished_one() -> None:
    stage = thinking()
    stage.call_tool()
    called = stage.records[-1].event
    stage.happen(ev.JobFinished)
    after = stage.state
    assert stage.give(called) == ()
    assert stage.state is after


@pytest.mark.req("M-20")
def test_a_call_of_a_cancelled_reply_is_not_run() -> None:
    stage = thinking()
    stage.happen(ev.InterruptRequested)
    assert stage.happen(ev.ToolCalled, reply=1, call=1) == ()
    assert stage.state.jobs == ()


@pytest.mark.req("C-GUD-004")
def test_a_job_is_delegated_or_dispatched_once() -> None:
    stage = dispatching()
    after = stage.state
    assert stage.happen(ev.CallDispatched) == ()
    assert stage.happen(ev.CallDelegated) == ()
    assert stage.state is after


# -- Faults, a lost line, the end


@pytest.mark.req("M-04", "L-13")
def test_a_fault_cancels_the_calls_that_are_waited_for_and_keeps_dispatched_jobs() -> None:
    stage = dispatching()
    stage.say()
    stage.think()
    stage.call_tool()
    assert stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN) == (
        fx.ShowFault(FaultSource.EARS, ErrorClass.UNKNOWN, fatal=False),
        fx.ReportLost(2, 2),
        fx.PlayCue(Cue.CALL_MADE),
        fx.CancelReply(5),
        fx.CancelWork(2),
        fx.PostOutput(2, Outcome.CANCELLED),
    )
    assert [job.call for job in stage.state.jobs] == [1]


@pytest.mark.req("M-04")
@pytest.mark.parametrize("scene", [calling, delegating, dispatching])
def test_a_lost_line_cancels_no_work(scene: Callable[[], Stage]) -> None:
    stage = scene()
    kinds = [job.kind for job in stage.state.jobs]
    assert stage.happen(ev.LinkClosed) == (fx.SaveContext(),)
    assert [job.kind for job in stage.state.jobs] == kinds


@pytest.mark.req("M-04")
def test_a_result_waits_for_the_line_and_is_asked_once_it_is_back() -> None:
    stage = calling()
    stage.happen(ev.LinkClosed)
    stage.wait(500)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(CALL, Outcome.DONE),)
    stage.wait(500)
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(3),)
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(3, 1, 1),)


@pytest.mark.req("L-19")
def test_the_end_gives_every_open_call_its_output_and_every_job_its_end() -> None:
    stage = dispatching()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    assert stage.happen(ev.EndRequested) == (
        fx.CloseSession(1),
        fx.ReportLost(2, 2),
        fx.CancelWork(1),
        fx.PostNews(1, Outcome.CANCELLED),
        fx.CancelWork(2),
        fx.PostOutput(2, Outcome.CANCELLED),
    )
    assert stage.state.jobs == ()


@pytest.mark.req("L-07", "V-07")
def test_a_goodbye_that_makes_a_call_waits_for_its_result() -> None:
    stage = Stage(profile("confirm", dead_air_ms=1_000, check_ins_max=0))
    stage.start()
    stage.wait(1_000)
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    assert (stage.state.link, stage.state.voice) == (Link.UP, Voice.SILENT)
    assert stage.effects(fx.CancelWork) == []


# -- M-16: cancelled work


@pytest.mark.req("M-16")
def test_a_cancelled_call_has_one_output_and_causes_no_request() -> None:
    stage = in_a_call()
    assert stage.happen(ev.CancelRequested) == (fx.CancelWork(1), fx.PostOutput(1, Outcome.CANCELLED))
    assert stage.happen(ev.JobFinished, call=1) == ()
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]
    assert is_at_rest(stage.state)


@pytest.mark.req("M-16")
def test_a_cancelled_job_has_one_end_and_causes_no_request() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.wait(1)
    stage.answer()
    told = len(requests(stage))
    assert stage.happen(ev.CancelRequested) == (fx.CancelWork(1), fx.PostNews(1, Outcome.CANCELLED))
    stage.wait(5_000)
    assert len(requests(stage)) == told


@pytest.mark.req("M-16")
def test_cancelling_the_call_asks_the_speech_that_was_queued_behind_it() -> None:
    stage = in_a_call()
    stage.say()
    effects = stage.happen(ev.CancelRequested)
    assert effects == (fx.CancelWork(1), fx.PostOutput(1, Outcome.CANCELLED), fx.StartReply(3, 2, 2))


@pytest.mark.req("M-16")
def test_a_call_cancelled_by_a_command_to_stop_causes_no_request() -> None:
    stage = in_a_call(cancellable=True)
    assert stage.happen(ev.InterruptRequested) == (fx.CancelWork(1), fx.PostOutput(1, Outcome.CANCELLED))
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-16")
def test_a_call_cancelled_before_its_reply_finished_causes_no_request() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.CancelRequested)
    stage.happen(ev.ReplyFinished)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-16", "L-06")
@pytest.mark.parametrize("confirmed", [False, True], ids=["stopping", "hushed"])
def test_a_command_to_stop_while_the_sound_is_stopping_wants_no_answer(confirmed: bool) -> None:
    stage = speaking(heard_ms=0)
    stage.interrupt()
    if confirmed:
        stage.happen(ev.PlaybackStopped, heard_ms=0)
    stage.happen(ev.InterruptRequested)
    assert stage.state.answered == 1
    stage.wait(stage.settings.stop_ms_max)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 2, 2))


# -- M-20: ids


@pytest.mark.req("M-20")
def test_a_repeated_call_can_not_reopen_a_finished_one() -> None:
    stage = asked()
    stage.happen(ev.TokenArrived)
    stage.call_tool()
    stage.happen(ev.JobFinished)
    assert stage.happen(ev.ToolCalled, call=1) == ()
    assert stage.state.jobs == ()
    assert stage.effects(fx.RunCall) == [fx.RunCall(1)]


@pytest.mark.req("M-20")
def test_a_call_with_an_older_id_than_the_newest_is_dropped() -> None:
    stage = asked()
    stage.happen(ev.TokenArrived)
    stage.happen(ev.ToolCalled, call=7)
    assert stage.happen(ev.ToolCalled, call=6) == ()
    assert stage.happen(ev.ToolCalled, call=8) == (fx.RunCall(8),)
    assert [job.call for job in stage.state.jobs] == [7, 8]


@pytest.mark.req("M-20")
def test_a_refused_call_uses_up_its_id() -> None:
    stage = asked(jobs_max=1)
    stage.happen(ev.TokenArrived)
    stage.call_tool()
    assert stage.happen(ev.ToolCalled, call=2) == (fx.PostOutput(2, Outcome.REFUSED),)
    stage.happen(ev.JobFinished, call=1)
    assert stage.happen(ev.ToolCalled, call=2) == ()
