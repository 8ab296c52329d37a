"""The reply: attempts, retries, additions to the question, acceptance."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    ErrorClass,
    FaultSource,
    Outcome,
    Reply,
    Timer,
    Voice,
)
from tests.core.scenes import ASKED_AT, asked, due, in_a_call, requests, speaking, up, when

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
    assert due(stage, Timer.READY) == ASKED_AT + 610_000  # the longest turn, and a little more


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


# -- M-11: committing and waiting


@pytest.mark.req("M-11", "C-REQ-004", "C-REQ-005")
def test_the_request_leaves_on_entering_committing_and_its_acceptance_moves_to_waiting() -> None:
    stage = up()
    assert stage.say() == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))
    assert (stage.state.reply, stage.view("conversation")) == (Reply.COMMITTING, "processing")
    assert stage.happen(ev.ReplyAccepted) == ()
    assert (stage.state.reply, stage.view("conversation")) == (Reply.WAITING, "waitingForCopilot")
