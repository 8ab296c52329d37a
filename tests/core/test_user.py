"""The person's turns: overheard words, endpoints and their text, late text."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    Reply,
    User,
    Voice,
)
from tests.core.scenes import asked, fall_silent, in_a_call, requests, speaking, up, when

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
def test_a_person_who_talks_on_after_the_limit_is_not_answered_at_every_word() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(2)
    stage.wait(602_000)
    assert requests(stage) == [(1, 1)]
    for words in range(3, 33):
        stage.wait(100)
        stage.hear_words(words)
    assert len(requests(stage)) <= 2


@pytest.mark.req("L-03")
@pytest.mark.parametrize(("gap_ms", "asked_by_ms"), [(601, 3_000), (500, 602_000)])
def test_noise_that_comes_and_goes_after_a_question_can_not_keep_it_from_being_asked(
    gap_ms: int, asked_by_ms: int
) -> None:
    stage = up()
    stage.begin_talking()
    stage.wait(800)
    stage.hear_words(4, final=True)
    stage.happen(ev.SpeechStopped)
    for _ in range(620):
        stage.wait(gap_ms)
        stage.begin_talking()
        stage.wait(500)
        stage.happen(ev.SpeechStopped)
    assert requests(stage)[:1] == [(1, 1)]
    assert when(stage, fx.StartReply)[0] < asked_by_ms


@pytest.mark.req("M-13")
def test_partial_text_after_the_endpoint_is_kept_for_the_end_of_the_wait() -> None:
    stage = up()
    stage.begin_talking()
    stage.wait(300)
    stage.happen(ev.TurnEnded)
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
def test_a_reply_that_waited_behind_the_longest_turn_and_more_is_dropped_and_its_turn_asked_again() -> None:
    stage = asked()
    stage.happen(ev.TokenArrived)
    stage.begin_talking()
    stage.happen(ev.WordsHeard, words=1, substantial=0)
    stage.happen(ev.AudioBuffered)
    stage.wait(600_000)
    stage.begin_talking()
    stage.happen(ev.WordsHeard, words=1, substantial=0)
    stage.wait(9_999)
    assert stage.effects(fx.CancelReply) == []
    stage.wait(1)
    assert stage.records[-1].effects == (fx.CancelReply(1),)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.WordsHeard, words=1, substantial=0, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(3), fx.StartReply(3, 1, 3))


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
