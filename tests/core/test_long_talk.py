"""Long turns, sounds behind the words, and send: a voice that goes on is speech until it ends."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import User
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, requests, up, when

# -- Long talk


@pytest.mark.req("H-07.floor", "H-07.words", "L-03")
@pytest.mark.parametrize("words", [0, 2], ids=["text only at the end", "partial text"])
def test_a_person_who_talks_for_five_minutes_keeps_the_floor_and_gets_one_answer(words: int) -> None:
    stage = up()
    stage.begin_talking()
    if words:
        stage.hear_words(words)
    stage.wait(300_000)
    assert stage.state.user is User.TALKING
    assert when(stage, fx.CommitAudio) == list(range(30_000, 300_001, 30_000))
    assert {type(effect) for record in stage.records[3:] for effect in record.effects} == {fx.CommitAudio}
    stage.happen(ev.SpeechStopped)
    stage.hear_words(500, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("H-07.floor", "H-07.words", "M-13")
@pytest.mark.parametrize("words", [0, 2], ids=["text only at the end", "partial text"])
def test_the_longest_turn_is_asked_and_the_person_is_told(words: int) -> None:
    stage = up()
    stage.begin_talking()
    if words:
        stage.hear_words(words)
    stage.wait(599_999)
    assert stage.effects(fx.WarnLongTalk) == []
    stage.wait(1)
    assert when(stage, fx.WarnLongTalk) == [600_000]
    assert stage.hear_words(900, final=True) == (fx.StartReply(1, 1, 1),)


@pytest.mark.req("H-07.floor")
def test_a_sound_that_turn_taking_dismisses_frees_the_floor_although_it_goes_on() -> None:
    stage = asked()
    stage.begin_talking()
    stage.speak()
    stage.wait(60_000)
    assert stage.effects(fx.StartPlayback) == []
    assert stage.happen(ev.SoundDismissed) == (fx.DiscardAudio(2), fx.StartPlayback(1, 1))


@pytest.mark.req("H-07.words")
def test_a_turn_with_words_ends_when_its_sound_is_dismissed_and_its_words_count() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(1, substantial=0)
    assert stage.happen(ev.SoundDismissed) == (fx.CommitAudio(1),)
    assert stage.state.user is User.TRANSCRIBING
    assert stage.hear_words(3, final=True) == (fx.StartReply(1, 1, 1),)


# -- A sound behind the words


def with_a_cough(for_ms: int) -> Stage:
    """A question whose final text is there, then a sound."""
    stage = up()
    stage.begin_talking()
    stage.wait(1_000)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(4, final=True)
    stage.wait(200)
    stage.begin_talking()
    stage.wait(for_ms)
    return stage


@pytest.mark.req("H-07.words")
def test_a_cough_behind_the_words_delays_the_answer_by_its_length_and_600_ms() -> None:
    stage = with_a_cough(300)
    stage.happen(ev.SpeechStopped)
    stage.wait(599)
    assert requests(stage) == []
    stage.wait(1)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("H-07.words")
def test_an_endpoint_after_the_cough_asks_at_once() -> None:
    stage = with_a_cough(300)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("H-07.words", "H-15")
def test_words_of_the_second_sound_join_the_turn() -> None:
    stage = with_a_cough(300)
    stage.happen(ev.SpeechStopped)
    stage.wait(500)
    stage.hear_words(7)
    stage.wait(2_000)
    assert requests(stage) == []
    stage.hear_words(7, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("H-07.send")
@pytest.mark.parametrize("end", [ev.PttReleased, ev.SendPressed])
@pytest.mark.parametrize("pressed_after_the_endpoint", [False, True])
def test_send_means_send_although_a_noise_goes_on(end: type[ev.Event], pressed_after_the_endpoint: bool) -> None:
    stage = with_a_cough(300)
    if pressed_after_the_endpoint:
        stage.happen(ev.TurnEnded)
        stage.wait(100)
    sent_at = stage.at
    stage.happen(end)
    stage.wait(600)
    assert when(stage, fx.StartReply) == [sent_at + 600]


@pytest.mark.req("H-07.send")
def test_a_send_never_makes_the_wait_for_the_text_longer() -> None:
    stage = with_a_cough(300)
    stage.happen(ev.TurnEnded)
    stage.wait(1_400)
    stage.happen(ev.SendPressed)
    stage.wait(100)
    assert requests(stage) == [(1, 1)]


@pytest.mark.req("M-13", "L-03")
def test_other_ends_wait_longer_for_the_text() -> None:
    stage = with_a_cough(300)
    stage.happen(ev.TurnEnded)
    stage.wait(1_499)
    assert requests(stage) == []
    stage.wait(1)
    assert requests(stage) == [(1, 1)]
