"""A question survives a fault: it is asked again by itself, once, or the person is told that it gets no answer."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Cue, ErrorClass, FaultSource, Link, Outcome, Reply, Timer
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, in_a_call, requests, speaking, up, when

E, P, T = ErrorClass, FaultSource, Timer
RECOVERED = (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
APOLOGY = (fx.ReportLost(1, 1), fx.PlayCue(Cue.APOLOGY))


def break_ears(stage: Stage) -> tuple[fx.Effect, ...]:
    return stage.happen(ev.ServiceFailed, part=P.EARS, error=E.UNKNOWN)


def exhaust(stage: Stage, error: ErrorClass) -> tuple[fx.Effect, ...]:
    """The reply fails until no retry is left. Returns the effects of the fault."""
    while stage.state.link is Link.UP:
        effects = stage.fail_reply(error)
        if stage.state.reply is Reply.RETRYING:
            stage.wait_for(T.RETRY)
    return effects


# -- Asked again, once


@pytest.mark.req("H-02.again")
@pytest.mark.parametrize("error", [E.RATE_LIMIT, E.NETWORK_TIMEOUT, E.SERVER_ERROR])
def test_a_question_whose_retries_are_used_up_is_asked_again_after_the_fault(error: ErrorClass) -> None:
    stage = asked()
    shown, cancelled = exhaust(stage, error)
    assert shown == fx.ShowFault(P.BRAIN, error, fatal=False)
    assert isinstance(cancelled, fx.CancelReply)
    assert stage.wait_for(T.DISMISS) == RECOVERED
    stage.happen(ev.SessionReady)
    ready_at = stage.at
    stage.wait_for(T.BEAT)
    assert (stage.at, requests(stage)[-1]) == (ready_at + 1, (1, 1))
    stage.answer()
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("H-02.told", "H-02.again")
def test_a_question_is_asked_again_only_once_and_then_the_person_hears_an_apology() -> None:
    stage = asked()
    exhaust(stage, E.RATE_LIMIT)
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    shown, *told, _ = exhaust(stage, E.RATE_LIMIT)
    assert shown == fx.ShowFault(P.BRAIN, E.RATE_LIMIT, fatal=False)
    assert tuple(told) == APOLOGY
    count = len(requests(stage))
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait(60_000)
    assert len(requests(stage)) == count


@pytest.mark.req("H-02.told", "H-02.again")
@pytest.mark.parametrize("part", [P.BRAIN, P.VOICE])
def test_a_question_is_not_asked_again_if_that_can_not_help(part: FaultSource) -> None:
    stage = asked()
    effects = stage.happen(ev.ReplyFailed, error=E.UNKNOWN, part=part)
    assert effects == (fx.ShowFault(part, E.UNKNOWN, fatal=False), *APOLOGY, fx.CancelReply(1))
    assert (stage.state.answered, stage.state.link) == (1, Link.FAULTED)


@pytest.mark.req("H-02.again")
def test_the_next_question_has_its_own_second_chance() -> None:
    stage = asked()
    break_ears(stage)
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.answer()
    stage.say()
    assert break_ears(stage) == (fx.ShowFault(P.EARS, E.UNKNOWN, fatal=False), fx.CancelReply(stage.state.reply_id - 1))
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    assert requests(stage)[-1] == (2, 2)


@pytest.mark.req("H-02.told")
def test_the_apology_is_heard_though_the_person_has_heard_cues_before() -> None:
    stage = asked(attempt_ms_max=30_000)
    stage.wait_for(T.CUE)
    stage.wait_for(T.CUE)
    effects = stage.fail_reply(E.UNKNOWN)
    assert fx.PlayCue(Cue.APOLOGY) in effects
    assert fx.StopCue() not in effects


@pytest.mark.req("H-02.again")
def test_a_person_who_speaks_at_the_fault_is_not_talked_to() -> None:
    stage = asked()
    stage.begin_talking()
    effects = stage.fail_reply(E.UNKNOWN)
    assert effects == (fx.ShowFault(P.BRAIN, E.UNKNOWN, fatal=False), fx.ReportLost(1, 1), fx.CancelReply(1))


def make_noise(stage: Stage) -> tuple[fx.Effect, ...]:
    """A sound without words. Returns the effects of its end."""
    stage.begin_talking()
    stage.wait(200)
    stage.happen(ev.SpeechStopped)
    return stage.hear_words(0, final=True)


@pytest.mark.req("H-02.told")
@pytest.mark.parametrize(("after_ms", "is_again"), [(50, True), (3_900, True), (4_100, False)])
def test_an_apology_that_a_sound_without_words_cut_off_is_said_again(after_ms: int, is_again: bool) -> None:
    stage = asked()
    stage.fail_reply(E.UNKNOWN)
    assert stage.effects(fx.PlayCue) == [fx.PlayCue(Cue.APOLOGY)]
    stage.wait(after_ms)
    assert (fx.PlayCue(Cue.APOLOGY) in make_noise(stage)) is is_again
    assert fx.PlayCue(Cue.APOLOGY) not in make_noise(stage), "only once"


@pytest.mark.req("H-02.told")
def test_an_apology_that_came_due_during_a_sound_without_words_is_said_after_it() -> None:
    stage = asked()
    stage.begin_talking()
    stage.fail_reply(E.UNKNOWN)
    assert stage.effects(fx.PlayCue) == []
    stage.happen(ev.SpeechStopped)
    assert fx.PlayCue(Cue.APOLOGY) in stage.hear_words(0, final=True)


@pytest.mark.req("H-02.told")
def test_an_apology_over_which_the_person_says_something_is_not_said_again() -> None:
    stage = asked()
    stage.fail_reply(E.UNKNOWN)
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    stage.happen(ev.TurnEnded)
    assert fx.PlayCue(Cue.APOLOGY) not in make_noise(stage)


# -- What was heard, and calls


@pytest.mark.req("H-02.told", "M-05")
def test_an_answer_that_breaks_off_is_told_and_not_asked_again() -> None:
    stage = speaking(heard_ms=400)
    assert stage.happen(ev.PlaybackFailed, error=E.SERVER_ERROR) == (
        fx.ShowFault(P.VOICE, E.SERVER_ERROR, fatal=False),
        fx.PlayCue(Cue.BROKEN_OFF),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
    )
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait(60_000)
    assert requests(stage) == [(1, 1)]
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("H-02.again")
def test_an_answer_of_which_nothing_was_heard_is_asked_again() -> None:
    stage = speaking(heard_ms=0)
    stage.happen(ev.PlaybackFailed, error=E.SERVER_ERROR)
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    assert requests(stage) == [(1, 1), (1, 1)]


@pytest.mark.req("H-02.told", "M-05")
def test_a_question_whose_answer_has_made_a_call_is_never_asked_again_by_itself_and_the_person_is_told() -> None:
    stage = in_a_call()
    assert break_ears(stage) == (
        fx.ShowFault(P.EARS, E.UNKNOWN, fatal=False),
        fx.ReportLost(1, 1),
        fx.PlayCue(Cue.CALL_MADE),
        fx.CancelWork(1),
        fx.PostOutput(1, Outcome.CANCELLED),
    )
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait(60_000)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("H-02.told", "M-05")
@pytest.mark.parametrize("error", [E.UNKNOWN, E.INVALID_ARGS])
def test_an_answer_that_fails_for_good_after_its_call_is_told_and_not_asked_for_again_by_itself(
    error: ErrorClass,
) -> None:
    # Once, the person heard "please ask me again" and got the answer ten seconds later.
    stage = in_a_call()
    stage.happen(ev.JobFinished)
    assert requests(stage) == [(1, 1), (1, 1)]
    shown, *told, _ = stage.fail_reply(error)
    assert shown == fx.ShowFault(P.BRAIN, error, fatal=False)
    assert told == [fx.ReportLost(1, 1), fx.PlayCue(Cue.CALL_MADE)]
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait(60_000)
    assert len(requests(stage)) == 2


@pytest.mark.req("H-02.again", "M-05")
def test_an_answer_that_fails_after_its_call_is_asked_for_again_once_with_the_output() -> None:
    stage = in_a_call()
    stage.happen(ev.JobFinished)
    exhaust(stage, E.SERVER_ERROR)
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    assert stage.effects(fx.ReportLost) == []
    count = len(requests(stage))
    _, *told, _ = exhaust(stage, E.SERVER_ERROR)
    assert told == [fx.ReportLost(1, 1), fx.PlayCue(Cue.CALL_MADE)]
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    stage.wait(60_000)
    assert len(requests(stage)) == count + 1, "the retry of the second attempt, and no more"


# -- The person need not wait


@pytest.mark.req("H-02.again")
@pytest.mark.parametrize("sign", [ev.SpeechStarted, ev.PttPressed])
def test_speech_leaves_a_fault_in_that_step(sign: type[ev.Event]) -> None:
    stage = asked()
    break_ears(stage)
    stage.wait(500)
    assert stage.happen(sign) == (*RECOVERED, fx.StopCue())
    assert stage.state.link is Link.PREPARING


@pytest.mark.req("H-02.again")
def test_a_typed_turn_leaves_a_fault_and_is_asked_with_its_question() -> None:
    stage = asked()
    break_ears(stage)
    assert stage.happen(ev.TextTyped) == RECOVERED
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    assert requests(stage) == [(1, 1), (1, 2)]


@pytest.mark.req("H-02.again")
@pytest.mark.parametrize("sign", [ev.SpeechStopped, ev.PttReleased, ev.SendPressed])
def test_the_end_of_speech_that_began_before_the_fault_leaves_it_too(sign: type[ev.Event]) -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    break_ears(stage)
    assert stage.happen(sign)[:3] == RECOVERED
    assert stage.state.link is Link.PREPARING


@pytest.mark.req("H-02.again")
def test_words_of_speech_that_began_before_the_fault_leave_it() -> None:
    stage = up()
    stage.begin_talking()
    break_ears(stage)
    assert stage.hear_words(2) == RECOVERED


@pytest.mark.req("H-02.told", "H-02.again", "M-08.dismissed", "M-08.again")
def test_only_a_dismissal_by_the_person_reports_the_question_as_lost() -> None:
    stage = asked()
    break_ears(stage)
    assert stage.happen(ev.DismissRequested) == (fx.ReportLost(1, 1), *RECOVERED)


# -- A reply of nothing


@pytest.mark.req("H-02.empty")
def test_an_empty_reply_is_asked_once_more_after_1_s() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    assert stage.happen(ev.ReplyWasEmpty) == (fx.CancelReply(1),)
    assert stage.state.reply is Reply.RETRYING
    empty_at = stage.at
    assert stage.wait_for(T.RETRY) == (fx.StartReply(3, 1, 1),)
    assert stage.at == empty_at + 1_000


@pytest.mark.req("H-02.empty", "H-02.told")
def test_a_second_empty_reply_is_told_and_is_no_fault() -> None:
    stage = asked()
    stage.happen(ev.ReplyWasEmpty)
    stage.wait_for(T.RETRY)
    assert stage.happen(ev.ReplyWasEmpty) == (fx.ReportLost(1, 1), fx.PlayCue(Cue.EMPTY))
    assert (stage.state.link, stage.state.reply, stage.state.answered) == (Link.UP, Reply.NONE, 1)
    stage.wait(60_000)
    assert requests(stage) == [(1, 1), (1, 1)]


@pytest.mark.req("H-02.empty")
def test_an_empty_reply_that_made_a_call_goes_on_with_its_output() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    assert stage.happen(ev.ReplyWasEmpty) == ()
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(1, Outcome.DONE), fx.StartReply(3, 1, 1))


@pytest.mark.req("H-02.empty", "M-05")
def test_two_empty_replies_behind_a_call_tell_that_the_call_was_made() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.happen(ev.JobFinished)
    stage.happen(ev.ReplyWasEmpty)
    stage.wait_for(T.RETRY)
    assert stage.happen(ev.ReplyWasEmpty) == (fx.ReportLost(1, 1), fx.PlayCue(Cue.CALL_MADE))


@pytest.mark.req("H-02.empty", "H-02.told")
def test_an_empty_reply_after_another_retry_is_told_at_once() -> None:
    stage = asked()
    stage.fail_reply(E.RATE_LIMIT)
    stage.wait_for(T.RETRY)
    assert stage.happen(ev.ReplyWasEmpty) == (fx.ReportLost(1, 1), fx.PlayCue(Cue.EMPTY))


# -- A fatal fault


@pytest.mark.req("H-02.told")
def test_a_fatal_fault_ends_the_conversation_once_its_words_were_heard() -> None:
    stage = asked()
    effects = stage.fail_reply(E.AUTH_FAILURE)
    assert effects == (
        fx.ShowFault(P.BRAIN, E.AUTH_FAILURE, fatal=True),
        fx.PlayCue(Cue.ENDED),
        fx.CancelReply(1),
    )
    stage.wait(1_700)
    assert stage.happen(ev.LastWordsHeard) == (fx.CloseSession(1), fx.ReportLost(1, 1))
    assert stage.state.link is Link.TERMINATING


@pytest.mark.req("H-02.told")
def test_no_cue_cuts_off_the_last_words_of_a_fatal_fault() -> None:
    stage = asked()
    stage.fail_reply(E.AUTH_FAILURE)
    stage.wait(5_999)
    assert stage.state.link is Link.FAULTED
    assert stage.effects(fx.PlayCue) == [fx.PlayCue(Cue.ENDED)]


@pytest.mark.req("H-02.told")
def test_last_words_mean_nothing_outside_a_fatal_fault() -> None:
    stage = asked()
    break_ears(stage)
    assert stage.happen(ev.LastWordsHeard) == ()
    assert stage.state.link is Link.FAULTED


@pytest.mark.req("H-02.told", "M-12")
def test_a_line_that_is_lost_too_often_says_that_the_question_gets_no_answer() -> None:
    stage = asked()
    for _ in range(stage.state.settings.line_losses_max + 1):
        stage.happen(ev.LinkClosed)
        stage.wait_for(T.BACKOFF)
        stage.happen(ev.SessionReady)
        stage.wait(1)
    assert stage.effects(fx.ReportLost) == [fx.ReportLost(1, 1)]
    assert when(stage, fx.PlayCue)[-1:] == when(stage, fx.ReportLost)
    assert stage.effects(fx.PlayCue)[-1] == fx.PlayCue(Cue.APOLOGY)
