"""The decisions for the machine, M-01 to M-21: exact effects at exact milliseconds."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.errors import InvalidSettings
from duologue.core.leaves import (
    LIVE,
    TIMER_INDEX,
    Ask,
    ErrorClass,
    FaultSource,
    JobKind,
    Link,
    Outcome,
    Reply,
    Timer,
    User,
    Voice,
)
from duologue.core.settings import profile
from duologue.core.state import is_at_rest, next_deadline
from duologue.core.views import VIEWS
from duologue.lab.sim.stage import Stage

ASKED_AT = 1_150  # when a turn of `Stage.say` that began at 0 is complete


def up(name: str = "confirm", **changes: object) -> Stage:
    """A conversation that is up and quiet at 0 ms; nothing greets and nothing checks in."""
    stage = Stage(profile(name, **{"dead_air_ms": 0, "greets": False, **changes}))
    stage.start()
    return stage


def asked(name: str = "confirm", **changes: object) -> Stage:
    """Turn 1 is complete and its request has just left, at 1150 ms."""
    stage = up(name, **changes)
    stage.say()
    return stage


def speaking(heard_ms: int = 600, name: str = "confirm", **changes: object) -> Stage:
    """The answer to turn 1 is being played."""
    stage = asked(name, **changes)
    stage.think()
    stage.speak(heard_ms)
    return stage


def in_a_call(cancellable: bool = False) -> Stage:
    """The reply to turn 1 ended in call 1, which runs."""
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool(cancellable)
    stage.happen(ev.ReplyFinished)
    return stage


def when(stage: Stage, kind: type[fx.Effect]) -> list[int]:
    return [record.event.at for record in stage.records for effect in record.effects if type(effect) is kind]


def requests(stage: Stage) -> list[tuple[int, int]]:
    return [(start.first, start.last) for start in stage.effects(fx.StartReply)]


def due(stage: Stage, timer: Timer) -> int:
    return stage.state.due[TIMER_INDEX[timer]]


def fall_silent(stage: Stage, heard_ms: int) -> None:
    """The line confirms the stop, and the short breath passes."""
    stage.happen(ev.PlaybackStopped, heard_ms=heard_ms)
    stage.wait(stage.settings.breath_ms)
    assert stage.state.voice is Voice.SILENT


# -- M-01: two deadlines on an answer


@pytest.mark.req("M-01", "C-PER-004")
def test_an_attempt_is_given_up_after_8_s() -> None:
    stage = asked()
    stage.wait(7_999)
    assert stage.effects(fx.CancelReply) == []
    stage.wait(1)
    assert stage.effects(fx.CancelReply) == [fx.CancelReply(1)]
    assert stage.state.reply is Reply.RETRYING


@pytest.mark.req("M-01")
def test_acceptance_does_not_give_the_attempt_more_time() -> None:
    stage = asked()
    stage.wait(7_000)
    stage.happen(ev.ReplyAccepted)
    stage.wait(1_000)
    assert when(stage, fx.CancelReply) == [ASKED_AT + 8_000]


@pytest.mark.req("M-01", "L-13", "C-PER-004")
def test_retries_come_after_1_2_and_4_s() -> None:
    stage = asked()
    waits = []
    for _ in range(3):
        stage.fail_reply(ErrorClass.RATE_LIMIT)
        failed_at = stage.at
        stage.wait_for(Timer.RETRY)
        waits.append(stage.at - failed_at)
    assert waits == [1_000, 2_000, 4_000]


@pytest.mark.req("M-01", "L-04")
def test_the_whole_answer_is_given_up_after_30_s_whatever_the_attempts_do() -> None:
    stage = asked()
    stage.wait(29_999)
    assert stage.effects(fx.ShowFault) == []
    stage.wait(1)
    assert stage.effects(fx.ShowFault) == [fx.ShowFault(FaultSource.BRAIN, ErrorClass.NETWORK_TIMEOUT, fatal=False)]
    assert stage.at == ASKED_AT + 30_000


@pytest.mark.req("M-01")
def test_the_whole_answer_counts_on_over_a_retry() -> None:
    stage = asked()
    stage.wait(5_000)
    stage.fail_reply(ErrorClass.SERVER_ERROR)
    assert due(stage, Timer.ANSWER) == ASKED_AT + 30_000
    stage.wait_for(Timer.RETRY)
    assert due(stage, Timer.ANSWER) == ASKED_AT + 30_000


@pytest.mark.req("M-01")
def test_the_first_audio_disarms_both_deadlines() -> None:
    stage = asked()
    stage.happen(ev.TokenArrived)
    stage.wait(29_000)
    stage.speak()
    assert (due(stage, Timer.ATTEMPT), due(stage, Timer.ANSWER)) == (0, 0)
    stage.play(20_000)
    assert stage.effects(fx.ShowFault) == []


@pytest.mark.req("M-01")
def test_sound_that_waits_behind_the_person_disarms_them_too() -> None:
    stage = asked()
    stage.begin_talking()
    stage.happen(ev.AudioBuffered)
    assert (due(stage, Timer.ATTEMPT), due(stage, Timer.ANSWER)) == (0, 0)
    assert due(stage, Timer.READY) == ASKED_AT + 10_000


# -- M-02: reconnecting


@pytest.mark.req("M-02", "L-14")
def test_reconnecting_ends_after_45_s_in_all() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.wait(44_999)
    assert when(stage, fx.OpenSession)[1:] == [1_000, 34_000]  # 1 s, 30 s for the attempt, 3 s
    assert stage.state.link is Link.RECONNECTING
    stage.wait(1)
    assert stage.effects(fx.ShowFault) == [fx.ShowFault(FaultSource.LINK, ErrorClass.NETWORK_TIMEOUT, fatal=False)]
    assert stage.at == 45_000


@pytest.mark.req("M-02", "L-14")
def test_attempts_come_after_1_3_and_10_s_and_the_last_failure_is_a_fault() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    for wait_ms in (1_000, 3_000, 10_000):
        assert stage.state.link is Link.BACKING_OFF
        stage.wait(wait_ms)
        assert stage.state.link is Link.RECONNECTING
        stage.happen(ev.SessionFailed, error=ErrorClass.SERVER_ERROR)
    assert when(stage, fx.OpenSession)[1:] == [1_000, 4_000, 14_000]
    assert stage.effects(fx.ShowFault) == [fx.ShowFault(FaultSource.LINK, ErrorClass.SERVER_ERROR, fatal=False)]


@pytest.mark.req("M-02")
def test_an_attempt_that_nobody_answers_is_bounded() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.wait(29_999)
    assert stage.state.link is Link.RECONNECTING
    stage.wait(1)
    assert stage.state.link is Link.BACKING_OFF


# -- M-03: going on


@pytest.mark.req("M-03")
def test_going_on_supersedes_the_request_and_both_turns_are_asked_together() -> None:
    stage = asked()
    stage.begin_talking()
    assert stage.hear_words(2) == (fx.CancelReply(1),)
    assert stage.hear_words(4) == ()
    stage.happen(ev.SpeechStopped)
    stage.hear_words(4, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 1, 2))


@pytest.mark.req("M-03")
def test_going_on_while_a_call_is_open_is_queued() -> None:
    stage = asked()
    stage.happen(ev.TokenArrived)
    stage.call_tool()
    assert stage.state.reply is Reply.GENERATING
    stage.say()
    assert stage.effects(fx.CancelReply) == []
    assert requests(stage) == [(1, 1)]
    assert (stage.state.said, stage.state.asked) == (2, 1)


@pytest.mark.req("M-03", "L-08")
def test_queued_speech_and_the_output_go_into_one_request() -> None:
    stage = in_a_call()
    stage.say()
    stage.say()
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(1, Outcome.DONE), fx.StartReply(3, 1, 3))


@pytest.mark.req("M-03")
def test_an_output_that_comes_while_the_person_speaks_waits_for_the_turn() -> None:
    stage = in_a_call()
    stage.begin_talking()
    stage.hear_words(2)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(1, Outcome.DONE),)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 1, 2))


@pytest.mark.req("M-03")
def test_the_last_of_two_outputs_makes_the_one_request() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    first, second = stage.call_tool(), stage.call_tool()
    stage.happen(ev.ReplyFinished)
    assert stage.happen(ev.JobFinished, call=second) == (fx.PostOutput(second, Outcome.DONE),)
    assert stage.happen(ev.JobFailed, call=first) == (fx.PostOutput(first, Outcome.FAILED), fx.StartReply(3, 1, 1))


# -- M-04: what a fault and a lost link cancel


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


@pytest.mark.req("M-04")
def test_a_fault_cancels_the_open_call_with_one_output_and_keeps_the_job() -> None:
    stage = with_a_call_and_a_job()
    effects = stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    assert effects == (
        fx.ShowFault(FaultSource.EARS, ErrorClass.UNKNOWN, fatal=False),
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


# -- M-05: what is never retried whole


@pytest.mark.req("M-05")
def test_a_reply_that_made_a_call_is_not_retried_and_is_asked_again_with_the_output() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    assert stage.fail_reply(ErrorClass.RATE_LIMIT) == (fx.CancelReply(1),)
    assert stage.state.reply is Reply.NONE
    stage.wait(10_000)
    assert requests(stage) == [(1, 1)]
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(1, Outcome.DONE), fx.StartReply(3, 1, 1))


@pytest.mark.req("M-05")
def test_a_reply_that_fails_while_it_is_heard_ends_where_it_is() -> None:
    stage = speaking()
    assert stage.fail_reply(ErrorClass.RATE_LIMIT) == ()
    assert stage.state.voice is Voice.PLAYING
    stage.finish()
    stage.wait(10_000)
    assert requests(stage) == [(1, 1)]
    assert stage.state.answered == 1


@pytest.mark.req("M-05", "M-12")
def test_a_reply_that_was_heard_is_not_asked_again_after_a_fault() -> None:
    stage = speaking(heard_ms=400)
    stage.happen(ev.PlaybackFailed, error=ErrorClass.SERVER_ERROR)
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 400)]
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait(10_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-05")
def test_a_call_after_the_first_token_keeps_the_reply_from_being_retried_too() -> None:
    stage = asked()
    stage.happen(ev.TokenArrived)
    stage.call_tool()
    assert stage.fail_reply(ErrorClass.RATE_LIMIT) == (fx.CancelReply(1),)
    assert stage.state.reply is Reply.NONE
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(1, Outcome.DONE), fx.StartReply(3, 1, 1))


# -- M-06: long speech and stalls


@pytest.mark.req("M-06", "L-05")
def test_120_s_of_speech_only_warn_once() -> None:
    stage = speaking(heard_ms=0)
    began_at = stage.at
    stage.play(240_000)
    assert when(stage, fx.WarnLongSpeech) == [began_at + 120_000]
    assert stage.effects(fx.WarnLongSpeech) == [fx.WarnLongSpeech(1)]
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("M-06")
def test_5_s_without_progress_end_the_sound_with_a_fault() -> None:
    stage = speaking(heard_ms=800)
    stage.wait(4_999)
    assert stage.state.voice is Voice.PLAYING
    stage.wait(1)
    assert stage.records[-1].effects == (
        fx.ShowFault(FaultSource.VOICE, ErrorClass.NETWORK_TIMEOUT, fatal=False),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 800),
    )


@pytest.mark.req("M-06")
def test_progress_and_only_progress_postpones_the_stall() -> None:
    stage = speaking(heard_ms=0)
    stage.wait(3_000)
    stage.happen(ev.PlaybackProgressed, heard_ms=200)
    assert due(stage, Timer.STALL) == stage.at + 5_000
    stall_due = due(stage, Timer.STALL)
    stage.wait(1_000)
    stage.happen(ev.PlaybackProgressed, heard_ms=200)
    assert due(stage, Timer.STALL) == stall_due


# -- M-07: suspension and renewal


@pytest.mark.req("M-07")
def test_a_suspension_of_30_s_becomes_a_reconnection() -> None:
    stage = up()
    stage.happen(ev.SuspendRequested)
    stage.wait(29_999)
    assert stage.state.link is Link.SUSPENDED
    stage.wait(1)
    assert stage.state.link is Link.BACKING_OFF
    assert stage.records[-1].effects == (fx.SaveContext(),)


@pytest.mark.req("M-07", "L-16")
def test_the_session_limit_is_a_renewal() -> None:
    stage = up()
    stage.wait(899_999)
    assert when(stage, fx.SaveContext) == [870_000]
    stage.wait(1)
    assert stage.state.link is Link.RENEWING
    assert stage.records[-1].effects == (fx.SaveContext(), fx.RenewSession(2))
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.UP


@pytest.mark.req("M-07")
def test_a_renewal_that_fails_or_takes_30_s_becomes_a_reconnection() -> None:
    failed, late = up(), up()
    for stage in (failed, late):
        stage.wait(900_000)
    failed.happen(ev.SessionFailed, error=ErrorClass.SERVER_ERROR)
    assert failed.state.link is Link.BACKING_OFF
    late.wait(29_999)
    assert late.state.link is Link.RENEWING
    late.wait(1)
    assert late.state.link is Link.BACKING_OFF


@pytest.mark.req("M-07", "C-REQ-008")
def test_a_renewal_during_a_pause_does_not_end_the_pause() -> None:
    stage = up(session_ms_max=60_000, session_warning_ms=50_000)
    stage.wait(50_000)
    stage.happen(ev.SuspendRequested)
    stage.wait(10_000)
    assert stage.effects(fx.RenewSession) == [fx.RenewSession(2)]
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.SUSPENDED
    stage.happen(ev.ResumeRequested)
    assert stage.state.link is Link.UP


@pytest.mark.req("M-07")
def test_a_resume_before_the_renewed_session_is_there_waits_for_it() -> None:
    stage = up(session_ms_max=60_000, session_warning_ms=50_000)
    stage.wait(50_000)
    stage.happen(ev.SuspendRequested)
    stage.wait(10_000)
    stage.happen(ev.ResumeRequested)
    assert stage.state.link is Link.RENEWING
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.state.link is Link.UP


# -- M-08: faults


@pytest.mark.req("M-08")
def test_a_recoverable_fault_goes_to_preparing_and_then_listening() -> None:
    stage = up()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    assert (stage.view("conversation"), stage.view("lifecycle")) == ("faulted", "error")
    assert stage.happen(ev.RetryRequested) == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    assert (stage.view("conversation"), stage.view("lifecycle")) == ("preparing", "idle")
    stage.happen(ev.SessionReady)
    assert (stage.view("conversation"), stage.view("lifecycle")) == ("listening", "idle")


@pytest.mark.req("M-08")
def test_dismissing_a_fault_reports_what_was_owed_as_lost() -> None:
    stage = asked()
    stage.fail_reply(ErrorClass.UNKNOWN)
    effects = stage.happen(ev.DismissRequested)
    assert effects == (fx.ReportLost(1, 1), fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    stage.happen(ev.SessionReady)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-08", "L-13")
def test_a_fault_that_nobody_minds_is_dismissed_after_10_s() -> None:
    stage = asked()
    stage.fail_reply(ErrorClass.UNKNOWN)
    stage.wait(9_999)
    assert stage.state.link is Link.FAULTED
    stage.wait(1)
    assert stage.records[-1].effects == (fx.ReportLost(1, 1), fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))


@pytest.mark.req("M-08")
def test_retrying_after_a_fault_keeps_what_was_owed() -> None:
    stage = asked()
    stage.fail_reply(ErrorClass.UNKNOWN)
    assert stage.happen(ev.RetryRequested) == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert requests(stage) == [(1, 1), (1, 1)]
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("M-08", "C-REQ-009")
def test_a_fatal_fault_is_shown_and_ends_the_conversation() -> None:
    stage = asked()
    stage.fail_reply(ErrorClass.AUTH_FAILURE)
    assert stage.effects(fx.ShowFault) == [fx.ShowFault(FaultSource.BRAIN, ErrorClass.AUTH_FAILURE, fatal=True)]
    stage.wait(1)
    assert stage.state.link is Link.TERMINATING
    assert stage.records[-1].effects == (fx.CloseSession(1), fx.ReportLost(1, 1))


@pytest.mark.req("M-08")
def test_dismissing_a_failed_reconnection_reports_the_open_turn_as_lost() -> None:
    stage = asked()
    stage.happen(ev.LinkClosed)
    stage.wait(45_000)
    assert stage.state.link is Link.FAULTED
    stage.happen(ev.DismissRequested)
    assert stage.effects(fx.ReportLost) == [fx.ReportLost(1, 1)]


# -- M-09: overheard


@pytest.mark.req("M-09")
def test_words_over_the_agent_are_recorded_at_their_endpoint_and_not_answered() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.hear_words(1)
    stage.happen(ev.OverlapJudged, bid=False)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(1, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.RecordOverheard(2))
    stage.play(400)
    stage.finish()
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-09", "V-06")
def test_words_whose_endpoint_comes_after_the_sound_are_the_next_turn() -> None:
    stage = speaking(name="words")
    stage.begin_talking()
    stage.happen(ev.WordsHeard, words=1, substantial=0)
    stage.finish()
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.WordsHeard, words=1, substantial=0, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 2, 2))
    assert stage.effects(fx.RecordOverheard) == []


@pytest.mark.req("M-09")
def test_a_turn_without_words_over_the_agent_leaves_no_record() -> None:
    stage = speaking()
    stage.cough()
    stage.wait(600)
    assert stage.effects(fx.DiscardAudio) == [fx.DiscardAudio(2)]
    assert stage.effects(fx.RecordOverheard) == []


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


# -- M-11: committing and waiting


@pytest.mark.req("M-11", "C-REQ-004", "C-REQ-005")
def test_the_request_leaves_on_entering_committing_and_its_acceptance_moves_to_waiting() -> None:
    stage = up()
    assert stage.say() == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))
    assert (stage.state.reply, stage.view("conversation")) == (Reply.COMMITTING, "processing")
    assert stage.happen(ev.ReplyAccepted) == ()
    assert (stage.state.reply, stage.view("conversation")) == (Reply.WAITING, "waitingForCopilot")


# -- M-12: after a reconnect


def reconnect(stage: Stage) -> None:
    """The line is lost and is back after one attempt."""
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(1)


@pytest.mark.req("M-12")
def test_after_a_reconnect_an_utterance_is_asked_once_more() -> None:
    stage = asked()
    reconnect(stage)
    assert requests(stage) == [(1, 1), (1, 1)]
    assert when(stage, fx.StartReply)[1:] == [ASKED_AT + 1_001]
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("M-12")
def test_a_second_loss_is_reported_and_the_utterance_is_not_asked_a_third_time() -> None:
    stage = asked()
    reconnect(stage)
    assert stage.happen(ev.LinkClosed)[-1] == fx.ReportLost(1, 1)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1), (1, 1)]


@pytest.mark.req("M-12")
def test_an_utterance_whose_answer_was_heard_is_not_asked_again() -> None:
    stage = speaking(heard_ms=200)
    effects = stage.happen(ev.LinkClosed)
    assert effects == (fx.SaveContext(), fx.StopPlayback(1), fx.CancelReply(1), fx.TruncateReply(1, 200))
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]


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


# -- M-13: committing audio and waiting for its text


@pytest.mark.req("M-13", "L-03")
def test_audio_is_committed_at_the_endpoint_and_not_before() -> None:
    stage = up()
    stage.begin_talking()
    stage.wait(500)
    stage.hear_words(2, final=True)
    stage.happen(ev.SpeechStopped)
    stage.wait(200)
    assert stage.effects(fx.CommitAudio) == []
    assert stage.happen(ev.TurnEnded)[0] == fx.CommitAudio(1)


@pytest.mark.req("M-13")
@pytest.mark.parametrize("end", [ev.TurnEnded, ev.PttReleased, ev.SendPressed])
def test_an_endpoint_without_its_final_text_waits_for_it(end: type[ev.Event]) -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(end) == (fx.CommitAudio(1),)
    stage.wait(300)
    assert stage.hear_words(3, final=True) == (fx.StartReply(1, 1, 1),)
    assert stage.effects(fx.CommitAudio) == [fx.CommitAudio(1)]


@pytest.mark.req("M-13")
def test_the_wait_for_the_final_text_ends_by_deadline_with_what_is_there() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.wait(1_499)
    assert requests(stage) == []
    stage.wait(1)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-13", "L-03")
def test_30_s_of_talk_are_an_endpoint() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    stage.wait(29_999)
    assert stage.effects(fx.CommitAudio) == []
    stage.wait(1)
    assert when(stage, fx.CommitAudio) == [30_000]
    assert stage.hear_words(9, final=True) == (fx.StartReply(1, 1, 1),)


@pytest.mark.req("M-13")
def test_words_without_an_endpoint_get_one_after_3_s_of_silence() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2, final=True)
    stage.happen(ev.SpeechStopped)
    stage.wait(2_999)
    assert requests(stage) == []
    stage.wait(1)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-13")
def test_words_that_come_after_the_sound_get_the_patience_of_words() -> None:
    stage = up()
    stage.begin_talking()
    stage.wait(300)
    stage.happen(ev.SpeechStopped)
    stage.wait(200)
    stage.hear_words(2, final=True)
    stage.wait(1_000)
    assert stage.state.user is User.SETTLING
    assert requests(stage) == []


@pytest.mark.req("M-13", "L-03", "C-INT-005")
def test_a_person_who_talks_on_after_the_30_s_limit_is_not_answered_at_every_word() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    stage.wait(32_000)
    assert requests(stage) == [(1, 1)]
    for words in range(3, 33):
        stage.wait(100)
        stage.hear_words(words)
    assert len(requests(stage)) <= 2


@pytest.mark.req("L-03")
def test_noise_that_comes_and_goes_after_a_question_can_not_keep_it_from_being_asked() -> None:
    stage = up()
    stage.begin_talking()
    stage.wait(800)
    stage.hear_words(4, final=True)
    stage.happen(ev.SpeechStopped)
    for _ in range(120):
        stage.wait(500)
        stage.begin_talking()
        stage.wait(500)
        stage.happen(ev.SpeechStopped)
    assert requests(stage)[:1] == [(1, 1)]


@pytest.mark.req("M-13")
def test_partial_text_after_the_endpoint_is_kept_for_the_end_of_the_wait() -> None:
    stage = up()
    stage.begin_talking()
    stage.wait(300)
    stage.happen(ev.PttReleased)
    stage.wait(500)
    assert stage.hear_words(2) == ()
    stage.wait(999)
    assert requests(stage) == []
    stage.wait(1)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-13", "L-03")
@pytest.mark.parametrize("end", [ev.PttReleased, ev.SendPressed])
def test_an_end_by_hand_with_its_final_text_is_asked_at_once(end: type[ev.Event]) -> None:
    stage = up()
    stage.happen(ev.PttPressed)
    stage.wait(600)
    stage.hear_words(3, final=True)
    assert stage.happen(end) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("M-13")
def test_a_reply_that_waited_10_s_behind_a_speaking_person_is_dropped_and_its_turn_asked_again() -> None:
    stage = asked()
    stage.happen(ev.TokenArrived)
    stage.begin_talking()
    stage.happen(ev.WordsHeard, words=1, substantial=0)
    stage.happen(ev.AudioBuffered)
    stage.wait(9_999)
    assert stage.effects(fx.CancelReply) == []
    stage.wait(1)
    assert stage.records[-1].effects == (fx.CancelReply(1),)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.WordsHeard, words=1, substantial=0, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 1, 2))


# -- M-14: overlap


@pytest.mark.req("M-14")
def test_an_overlap_without_a_verdict_resumes_after_1500_ms() -> None:
    stage = speaking()
    stage.begin_talking()
    held_at = stage.at
    stage.wait(1_499)
    assert stage.state.voice is Voice.HELD
    stage.wait(1)
    assert when(stage, fx.ResumePlayback) == [held_at + 1_500]
    assert stage.effects(fx.ResumePlayback) == [fx.ResumePlayback(1)]
    assert stage.effects(fx.CancelReply) == []


@pytest.mark.req("M-14")
def test_an_overlap_whose_sound_has_ended_resumes_500_ms_later() -> None:
    stage = speaking()
    stage.cough(300)
    quiet_at = stage.at
    stage.wait(500)
    assert when(stage, fx.ResumePlayback) == [quiet_at + 500]


@pytest.mark.req("M-14")
def test_a_sound_that_begins_again_gets_the_whole_overlap_for_its_verdict() -> None:
    stage = speaking()
    held_at = stage.at
    stage.cough(200)
    stage.wait(300)
    stage.begin_talking()
    stage.wait(held_at + 1_499 - stage.at)
    assert stage.state.voice is Voice.HELD
    stage.wait(1)
    assert when(stage, fx.ResumePlayback) == [held_at + 1_500]


@pytest.mark.req("M-14")
def test_silence_never_makes_an_overlap_longer() -> None:
    stage = speaking()
    stage.cough(1_300)
    stage.wait(200)
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("M-14")
def test_later_words_still_interrupt_after_the_sound_resumed() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(1_500)
    stage.hear_words(2)
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))


@pytest.mark.req("M-14")
def test_a_verdict_against_the_bid_resumes_at_once() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(100)
    assert stage.happen(ev.OverlapJudged, bid=False) == (fx.ResumePlayback(1),)


@pytest.mark.req("M-14")
def test_noise_that_comes_and_goes_can_not_hold_the_sound_for_long() -> None:
    stage = speaking()
    held_at = stage.at
    for _ in range(30):
        stage.begin_talking()
        stage.wait(200)
        stage.happen(ev.SpeechStopped)
        stage.wait(200)
    assert when(stage, fx.ResumePlayback)
    assert when(stage, fx.ResumePlayback)[0] - held_at <= 2 * stage.settings.overlap_ms_max


@pytest.mark.req("M-14", "V-04")
def test_an_overlap_judged_a_bid_after_its_endpoint_is_asked_as_the_next_turn() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(300)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.hear_words(2, final=True)
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))
    fall_silent(stage, heard_ms=700)
    stage.wait(1)
    assert requests(stage) == [(1, 1), (2, 2)]


@pytest.mark.req("M-14", "M-09")
def test_a_bid_does_not_bring_back_an_older_word_that_was_overheard() -> None:
    stage = speaking(name="words")
    stage.begin_talking()
    stage.happen(ev.WordsHeard, words=1, substantial=0, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert stage.effects(fx.RecordOverheard) == [fx.RecordOverheard(2)]
    stage.play(2_000)
    stage.begin_talking()
    stage.wait(900)
    stage.happen(ev.OverlapJudged, bid=True)
    fall_silent(stage, heard_ms=3_000)
    stage.happen(ev.SpeechStopped)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-14")
def test_in_immediate_the_onset_is_the_verdict() -> None:
    stage = speaking(name="immediate")
    assert stage.happen(ev.SpeechStarted) == (fx.StopPlayback(1), fx.CancelReply(1))


# -- M-15: late text


@pytest.mark.req("M-15")
def test_late_text_of_an_utterance_that_was_not_asked_joins() -> None:
    stage = in_a_call()
    stage.cough()
    stage.wait(600)
    assert stage.state.user is User.QUIET
    assert stage.hear_words(2, final=True) == ()
    assert stage.state.said == 2
    assert stage.happen(ev.JobFinished)[-1] == fx.StartReply(3, 1, 2)


@pytest.mark.req("M-15")
def test_late_text_of_an_asked_utterance_supersedes_the_request() -> None:
    stage = asked()
    stage.think()
    assert stage.hear_words(5, final=True) == (fx.CancelReply(1),)
    stage.wait(1)
    assert requests(stage) == [(1, 1), (1, 1)]


@pytest.mark.req("M-15")
def test_late_text_supersedes_a_sound_of_which_nothing_was_heard() -> None:
    stage = speaking(heard_ms=0)
    assert stage.hear_words(5, final=True) == (fx.StopPlayback(1), fx.CancelReply(1))
    fall_silent(stage, heard_ms=0)
    stage.wait(1)
    assert requests(stage) == [(1, 1), (1, 1)]
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 0)]


@pytest.mark.req("M-15")
def test_late_text_of_an_utterance_whose_answer_was_heard_is_overheard() -> None:
    stage = speaking(heard_ms=200)
    assert stage.hear_words(5, final=True) == (fx.RecordOverheard(1),)
    stage.finish()
    assert stage.hear_words(6, final=True) == (fx.RecordOverheard(1),)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-15")
def test_late_text_of_a_turn_from_before_the_sound_is_asked_after_it() -> None:
    stage = asked()
    stage.cough()
    stage.wait(600)
    stage.speak(400)
    assert stage.hear_words(2, turn=2, final=True) == ()
    assert stage.state.voice is Voice.PLAYING
    stage.finish()
    stage.wait(1)
    assert requests(stage) == [(1, 1), (2, 2)]


@pytest.mark.req("M-15", "M-03")
def test_late_fillers_supersede_nothing_and_are_overheard() -> None:
    stage = asked()
    assert stage.happen(ev.WordsHeard, words=1, substantial=0, final=True) == (fx.RecordOverheard(1),)
    assert stage.state.reply is Reply.COMMITTING


@pytest.mark.req("M-15")
def test_late_text_that_stopped_the_answer_is_asked_even_if_the_line_played_a_little() -> None:
    stage = speaking(heard_ms=0)
    assert stage.hear_words(5, final=True) == (fx.StopPlayback(1), fx.CancelReply(1))
    fall_silent(stage, heard_ms=120)
    stage.wait(1)
    assert requests(stage)[1:] == [(1, 1)]


@pytest.mark.req("M-15", "M-03")
def test_late_text_during_a_call_goes_into_the_request_with_its_output() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.hear_words(5, final=True)
    stage.speak(400)
    stage.finish()
    stage.happen(ev.JobFinished)
    assert requests(stage)[-1] == (1, 1) or fx.RecordOverheard(1) in stage.effects(fx.RecordOverheard)


@pytest.mark.req("M-15")
def test_late_text_while_the_sound_is_stopping_is_overheard() -> None:
    stage = speaking(heard_ms=600)
    stage.interrupt()
    assert stage.hear_words(5, turn=1, final=True) == (fx.RecordOverheard(1),)


@pytest.mark.req("M-15", "C-INT-005")
@pytest.mark.graveyard(3)
def test_a_final_text_that_says_nothing_new_supersedes_nothing() -> None:
    stage = up()
    stage.begin_talking()
    stage.happen(ev.SpeechStopped)
    stage.hear_words(3, final=True, content=7)
    stage.happen(ev.TurnEnded)
    assert stage.hear_words(3, final=True, content=7) == ()
    stage.wait(1)
    assert requests(stage) == [(1, 1)]


@pytest.mark.graveyard(2)
def test_the_answer_to_a_typed_turn_is_not_spoken_over_a_person_who_is_talking() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.TextTyped)
    stage.begin_talking()  # the ears say that the voice goes on
    stage.think()
    assert stage.speak() == ()
    assert stage.effects(fx.StartPlayback) == []


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


# -- M-17: dead air and work


@pytest.mark.req("M-17", "V-07")
def test_a_dispatched_job_is_work_and_its_silence_is_not_dead_air() -> None:
    stage = asked(dead_air_ms=10_000)
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.wait(1)
    stage.answer()
    assert due(stage, Timer.DEAD_AIR) == 0
    told = len(requests(stage))
    stage.wait(600_000)
    assert len(requests(stage)) == told
    stage.happen(ev.CancelRequested)
    assert due(stage, Timer.DEAD_AIR) == stage.at + 10_000


# -- M-18: words while the link is down


@pytest.mark.req("M-18")
def test_words_heard_while_the_link_is_down_are_asked_when_it_is_back() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.say()
    stage.say()
    assert requests(stage) == []
    assert stage.state.link is Link.RECONNECTING
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert requests(stage) == [(1, 2)]


@pytest.mark.req("M-18")
def test_a_turn_that_goes_on_over_the_reconnect_is_asked_at_its_endpoint() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(4, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("M-18")
def test_ending_with_owed_input_reports_it_as_lost() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.say()
    stage.say()
    assert stage.happen(ev.EndRequested)[-1] == fx.ReportLost(1, 2)


@pytest.mark.req("M-18")
def test_ending_in_the_middle_of_a_turn_reports_it_as_lost() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    assert stage.happen(ev.EndRequested) == (fx.CloseSession(1), fx.ReportLost(1, 1))


@pytest.mark.req("M-18")
def test_ending_with_everything_answered_reports_nothing() -> None:
    stage = asked()
    stage.answer()
    assert stage.happen(ev.EndRequested) == (fx.CloseSession(1),)


# -- M-19: the breaker


def fail_and_recover(stage: Stage) -> None:
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    if stage.state.fault and not stage.state.fault.fatal:
        stage.happen(ev.RetryRequested)
        stage.happen(ev.SessionReady)


@pytest.mark.req("M-19", "C-PAT-004")
def test_the_third_fault_within_a_minute_is_fatal() -> None:
    stage = up()
    fail_and_recover(stage)
    stage.wait(30_000)
    fail_and_recover(stage)
    stage.wait(29_999)
    fail_and_recover(stage)
    assert [shown.fatal for shown in stage.effects(fx.ShowFault)] == [False, False, True]
    stage.wait(1)
    assert stage.state.link is Link.TERMINATING


@pytest.mark.req("M-19")
def test_faults_more_than_a_minute_apart_are_forgotten() -> None:
    stage = up()
    fail_and_recover(stage)
    fail_and_recover(stage)
    stage.wait(60_000)
    fail_and_recover(stage)
    assert [shown.fatal for shown in stage.effects(fx.ShowFault)] == [False, False, False]


@pytest.mark.req("M-19")
def test_the_fifth_fault_in_a_row_is_fatal_however_far_apart() -> None:
    stage = up()
    for _ in range(5):
        fail_and_recover(stage)
        stage.wait(100_000)
    assert [shown.fatal for shown in stage.effects(fx.ShowFault)] == [False] * 4 + [True]


@pytest.mark.req("M-19")
def test_an_answer_that_was_heard_breaks_the_row() -> None:
    stage = up()
    for _ in range(8):
        fail_and_recover(stage)
        stage.wait(100_000)
        stage.say()
        stage.answer()
    assert not any(shown.fatal for shown in stage.effects(fx.ShowFault))


@pytest.mark.req("M-19")
@pytest.mark.parametrize("name", ["immediate", "confirm", "words"])
@pytest.mark.parametrize("window_ms", [1, 60_000])
def test_left_alone_with_dead_services_a_conversation_comes_to_an_end(name: str, window_ms: int) -> None:
    stage = Stage(profile(name, faults_window_ms=window_ms, dead_air_ms=10_000))
    stage.start()
    stage.say()
    fired = 0
    while deadline := next_deadline(stage.state):
        stage.wait(deadline.due - stage.at)
        fired += 1
        assert fired < 200
    assert stage.state.link is Link.IDLE
    assert stage.effects(fx.ShowFault)[-1].fatal
    assert stage.effects(fx.ReportLost) == [fx.ReportLost(1, 1)]


@pytest.mark.req("M-19")
@pytest.mark.parametrize(
    "name", ["faults_max", "faults_in_a_row_max", "faults_window_ms", "dismiss_ms", "answer_ms_max"]
)
def test_settings_without_a_bound_are_refused(name: str) -> None:
    with pytest.raises(InvalidSettings, match=name):
        profile("confirm", **{name: 0})


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


# -- M-21: holding and how fast


@pytest.mark.req("M-21")
def test_in_confirm_the_onset_holds_in_its_own_step() -> None:
    stage = speaking()
    assert stage.happen(ev.SpeechStarted) == (fx.HoldPlayback(1),)


@pytest.mark.req("M-21")
def test_in_words_the_sound_plays_on_until_the_verdict() -> None:
    stage = speaking(name="words")
    assert stage.happen(ev.SpeechStarted) == ()
    stage.hear_words(2)
    assert stage.state.voice is Voice.PLAYING
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))


@pytest.mark.req("M-21")
def test_held_shows_as_speaking_in_every_view() -> None:
    stage = speaking()
    stage.begin_talking()
    assert stage.state.voice is Voice.HELD
    assert {name: view.see(stage.state) for name, view in VIEWS.items()} == {
        "lifecycle": "speaking",
        "conversation": "speaking",
        "orchestrator": "speaking",
        "phone": "agent_speaking",
    }


@pytest.mark.req("M-21", "C-REQ-007", "C-PER-002", "C-AC-004")
@pytest.mark.parametrize("name", ["immediate", "confirm", "words"])
@pytest.mark.parametrize("confirmed_after_ms", [0, 49, 50, 51, 399, None])
def test_from_the_verdict_it_is_interrupted_at_once_and_listening_within_400_ms(
    name: str, confirmed_after_ms: int | None
) -> None:
    stage = speaking(name=name)
    verdict_at = stage.at
    if name == "immediate":
        stage.begin_talking()
    else:
        stage.interrupt()
        verdict_at += 200
    assert stage.view("conversation") == "interrupted"
    assert when(stage, fx.StopPlayback) == [verdict_at]
    if confirmed_after_ms is not None:
        stage.wait(confirmed_after_ms)
        stage.happen(ev.PlaybackStopped, heard_ms=700)
    stage.wait(verdict_at + 400 - stage.at)
    assert stage.view("conversation") == "listening"
    latest = 400 if confirmed_after_ms is None else max(50, confirmed_after_ms)
    assert when(stage, fx.TruncateReply) == [verdict_at + latest]


@pytest.mark.req("M-21")
def test_a_held_sound_is_not_played_while_the_session_is_paused_and_resumes_with_the_verdict() -> None:
    stage = speaking()
    stage.begin_talking()
    assert stage.happen(ev.SuspendRequested) == ()
    assert stage.happen(ev.OverlapJudged, bid=False) == ()
    assert stage.state.link in LIVE
    assert stage.happen(ev.ResumeRequested) == (fx.ResumePlayback(1),)


@pytest.mark.req("M-14", "V-07")
def test_a_check_in_is_held_like_any_other_sound() -> None:
    stage = up(dead_air_ms=5_000)
    stage.wait(5_000)
    stage.think()
    stage.speak(200)
    assert stage.state.ask is Ask.CHECK_IN
    assert stage.happen(ev.SpeechStarted) == (fx.HoldPlayback(1),)
