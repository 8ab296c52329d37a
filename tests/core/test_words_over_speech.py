"""Words over the agent's speech that need an answer: early answers to a question, and words over a firm reply."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, Reply, Voice
from duologue.lab.sim.stage import Stage
from tests.core.scenes import requests, speaking

# -- H-06: an answer that began before the question's end


def overheard_over(heard_ms: int = 400) -> Stage:
    """The person said "yes" while the agent spoke."""
    stage = speaking(heard_ms=heard_ms)
    stage.begin_talking()
    stage.hear_words(1, substantial=0, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.OverlapJudged, bid=False)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.RecordOverheard(2))
    return stage


@pytest.mark.req("H-06.early", "M-09")
def test_an_overheard_answer_is_asked_after_the_question() -> None:
    stage = overheard_over()
    assert stage.happen(ev.AnswerOverheard) == ()
    assert stage.state.voice is Voice.PLAYING
    stage.finish()
    stage.wait(1)
    assert requests(stage) == [(1, 1), (2, 2)]


@pytest.mark.req("H-06.early", "M-09")
def test_an_answer_found_after_the_question_is_asked_at_once() -> None:
    stage = overheard_over()
    stage.finish()
    assert stage.happen(ev.AnswerOverheard) == (fx.StartReply(3, 2, 2),)


@pytest.mark.req("H-06.early")
def test_a_turn_that_is_still_open_is_no_overheard_answer() -> None:
    stage = speaking(heard_ms=400)
    stage.begin_talking()
    stage.hear_words(1, substantial=0, final=True)
    assert stage.happen(ev.AnswerOverheard) == ()
    assert stage.state.said == 1


@pytest.mark.req("H-06.early", "H-15")
def test_late_text_of_an_answer_that_is_owed_joins_it() -> None:
    stage = overheard_over()
    stage.happen(ev.AnswerOverheard)
    assert stage.hear_words(1, substantial=0, final=True, content=9) == ()
    stage.finish()
    stage.wait(1)
    assert requests(stage) == [(1, 1), (2, 2)]


# -- H-13: words over firm speech


def firm() -> Stage:
    stage = speaking(heard_ms=400)
    stage.happen(ev.ReplyBecameFirm)
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=True)
    return stage


@pytest.mark.req("H-13")
def test_words_over_firm_speech_are_asked_after_it() -> None:
    stage = firm()
    stage.hear_words(3, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2),)
    stage.finish()
    stage.wait(1)
    assert requests(stage) == [(1, 1), (2, 2)]


@pytest.mark.req("H-13", "H-15")
def test_late_words_over_firm_speech_are_asked_after_it() -> None:
    stage = firm()
    stage.happen(ev.SpeechStopped)
    stage.wait(600)
    assert stage.hear_words(3, final=True) == ()
    stage.finish()
    stage.wait(1)
    assert requests(stage) == [(1, 1), (2, 2)]


@pytest.mark.req("H-13", "M-09")
def test_fillers_over_firm_speech_are_overheard() -> None:
    stage = firm()
    stage.hear_words(1, substantial=0, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.RecordOverheard(2))


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", ["immediate", "confirm", "words"])
def test_speech_neither_holds_nor_stops_a_firm_reply(name: str) -> None:
    stage = speaking(name=name)
    stage.happen(ev.ReplyBecameFirm)
    assert stage.happen(ev.SpeechStarted) == ()
    assert stage.happen(ev.OverlapJudged, bid=True) == ()
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("H-13")
def test_a_held_reply_resumes_when_it_becomes_firm() -> None:
    stage = speaking()
    stage.begin_talking()
    assert stage.happen(ev.ReplyBecameFirm) == (fx.ResumePlayback(1),)


@pytest.mark.req("H-13")
def test_a_reply_that_became_firm_before_its_sound_is_firm_when_it_is_played() -> None:
    stage = speaking()
    stage.finish()
    stage.say()
    stage.think()
    stage.happen(ev.ReplyBecameFirm)
    stage.speak(600)
    assert stage.happen(ev.SpeechStarted) == ()


@pytest.mark.req("H-13")
@pytest.mark.parametrize("kind", [ev.PttPressed, ev.TextTyped, ev.InterruptRequested])
def test_a_button_typed_text_and_an_interrupt_request_stop_a_firm_reply(kind: type[ev.Event]) -> None:
    stage = speaking()
    stage.happen(ev.ReplyBecameFirm)
    assert stage.happen(kind)[:2] == (fx.StopPlayback(1), fx.CancelReply(1))
    assert stage.state.voice is Voice.STOPPING


@pytest.mark.req("H-13")
def test_the_reply_after_a_firm_one_can_be_interrupted() -> None:
    stage = speaking()
    stage.happen(ev.ReplyBecameFirm)
    stage.finish()
    stage.say()
    stage.think()
    stage.speak(600)
    assert stage.happen(ev.SpeechStarted) == (fx.HoldPlayback(stage.state.voice_id),)


@pytest.mark.req("H-13")
def test_a_retried_reply_is_firm_only_if_it_says_so_again() -> None:
    stage = speaking()
    stage.finish()
    stage.say()
    stage.think()
    stage.happen(ev.ReplyBecameFirm)
    stage.fail_reply(ErrorClass.RATE_LIMIT)
    assert (stage.state.reply, stage.state.firm) == (Reply.RETRYING, False)
