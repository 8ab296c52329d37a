"""What a program does to a conversation: it says something, takes a turn, and changes the agent."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, ErrorClass, Link, Reply, Timer, Voice
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, fall_silent, in_a_call, requests, speaking, up


def test_words_of_the_program_are_said_a_beat_later_and_answer_no_turn() -> None:
    stage = up()
    assert stage.happen(ev.SpeechRequested) == ()
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(1, 1, 0, Ask.SAY),)
    stage.answer()
    assert (stage.state.says, stage.state.ask, stage.state.answered) == (False, Ask.ANSWER, 0)


def test_an_owed_answer_comes_before_words_of_the_program() -> None:
    stage = asked()
    stage.happen(ev.SpeechRequested)
    stage.answer()
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(stage.state.reply_id, 2, 1, Ask.SAY),)


def test_words_of_the_program_are_said_while_a_tool_runs_and_leave_its_question_open() -> None:
    stage = in_a_call()
    stage.happen(ev.SpeechRequested)
    stage.wait_for(Timer.BEAT)
    stage.answer()
    assert (stage.state.answered, stage.state.asked) == (0, 1)
    stage.happen(ev.JobFinished)
    assert requests(stage)[-1] == (1, 1)


def test_words_that_were_not_heard_are_said_again_after_the_answer() -> None:
    stage = up()
    stage.happen(ev.SpeechRequested)
    stage.wait_for(Timer.BEAT)
    stage.say()
    assert stage.state.says
    stage.answer()
    stage.wait_for(Timer.BEAT)
    assert stage.effects(fx.StartReply)[-1].ask is Ask.SAY


def test_words_that_were_heard_in_part_are_not_said_again() -> None:
    stage = up("immediate")
    stage.happen(ev.SpeechRequested)
    stage.wait_for(Timer.BEAT)
    stage.think()
    stage.speak(400)
    stage.happen(ev.SpeechStarted)
    fall_silent(stage, 400)
    assert not stage.state.says


def test_a_stop_command_cancels_words_of_the_program() -> None:
    stage = up()
    stage.happen(ev.SpeechRequested)
    stage.wait_for(Timer.BEAT)
    stage.happen(ev.InterruptRequested)
    assert (stage.state.reply, stage.state.says) == (Reply.NONE, False)


def test_words_of_the_program_wait_for_a_lost_line_and_end_with_the_call() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.happen(ev.SpeechRequested)
    assert stage.state.says
    stage.happen(ev.EndRequested)
    assert not stage.state.says


def test_the_conversation_ends_only_after_words_of_the_program() -> None:
    stage = up()
    stage.happen(ev.SpeechRequested)
    stage.happen(ev.EndAfterSpeaking)
    assert stage.wait_for(Timer.BEAT)[0] == fx.StartReply(1, 1, 0, Ask.SAY)
    stage.answer()
    assert stage.wait_for(Timer.LAST_WORDS) == (fx.CloseSession(1),)


def test_a_turn_that_the_program_takes_is_not_asked() -> None:
    stage = asked()
    assert fx.CancelReply(1) in stage.happen(ev.TurnTaken, turn=1)
    assert (stage.state.reply, stage.state.answered) == (Reply.NONE, 1)
    assert stage.happen(ev.TurnTaken, turn=1) == ()
    stage.wait(10_000)
    assert len(requests(stage)) == 1


def test_a_turn_during_a_call_is_taken_while_the_call_goes_on() -> None:
    stage = in_a_call()
    stage.say()
    stage.happen(ev.TurnTaken, turn=2)
    assert (stage.state.answered, stage.state.asked, len(stage.state.jobs)) == (2, 2, 1)
    stage.happen(ev.JobFinished)
    assert requests(stage)[-1] == (3, 2)  # the output goes to the brain without a turn


def test_another_agent_answers_a_question_of_which_nothing_was_heard() -> None:
    stage = asked()
    assert fx.ChangeAgent(speaks=True) in stage.happen(ev.AgentChangeRequested, speaks=True)
    assert stage.state.reply is Reply.NONE
    stage.wait_for(Timer.BEAT)
    assert requests(stage) == [(1, 1), (1, 1)]


def test_another_agent_answers_instead_of_an_answer_that_waits_for_the_end_of_a_sound() -> None:
    stage = asked()
    stage.happen(ev.SpeechStarted)
    stage.happen(ev.TokenArrived)
    stage.happen(ev.AudioBuffered)
    assert stage.state.reply is Reply.READY
    assert fx.CancelReply(1) in stage.happen(ev.AgentChangeRequested, speaks=True)
    stage.happen(ev.SoundDismissed)
    stage.wait_for(Timer.BEAT)
    assert requests(stage) == [(1, 1), (1, 1)]


def test_another_agent_answers_instead_of_a_second_attempt() -> None:
    stage = asked()
    stage.happen(ev.ReplyFailed, error=ErrorClass.SERVER_ERROR)
    assert stage.state.reply is Reply.RETRYING
    stage.happen(ev.AgentChangeRequested, speaks=True)
    assert stage.state.reply is Reply.NONE
    stage.wait_for(Timer.BEAT)
    assert requests(stage) == [(1, 1), (1, 1)]


def renewing() -> Stage:
    """The old session has ended before the new one is there."""
    stage = up(session_ms_max=10_000, session_warning_ms=0)
    stage.wait_for(Timer.SESSION_LIMIT)
    stage.happen(ev.SessionEnded)
    assert stage.state.link is Link.RENEWING
    return stage


def test_words_of_the_program_wait_for_the_new_session() -> None:
    stage = renewing()
    assert stage.happen(ev.SpeechRequested) == ()
    stage.happen(ev.SessionReady)
    assert stage.wait_for(Timer.BEAT) == (fx.StartReply(1, 1, 0, Ask.SAY),)


@pytest.mark.parametrize("speaks", [True, False])
def test_the_agent_can_change_while_the_session_is_replaced(speaks: bool) -> None:
    assert renewing().happen(ev.AgentChangeRequested, speaks=speaks) == (fx.ChangeAgent(speaks=speaks),)


def test_an_end_after_speaking_while_the_session_is_replaced_comes_with_the_new_one() -> None:
    stage = renewing()
    stage.happen(ev.EndAfterSpeaking)
    stage.happen(ev.SessionReady)
    stage.wait_for(Timer.LAST_WORDS)
    assert stage.state.link is Link.TERMINATING


def test_another_agent_lets_the_first_one_finish_its_sentence() -> None:
    stage = speaking()
    assert stage.happen(ev.AgentChangeRequested, speaks=True) == (fx.ChangeAgent(speaks=True),)
    assert stage.state.voice is Voice.PLAYING
    stage.finish()
    stage.wait_for(Timer.BEAT)
    assert requests(stage)[-1] == (2, 1)


def test_a_changed_agent_goes_on_without_a_word() -> None:
    stage = up()
    assert stage.happen(ev.AgentChangeRequested) == (fx.ChangeAgent(speaks=False),)
    stage.wait(5_000)
    assert (requests(stage), stage.state.link) == ([], Link.UP)
