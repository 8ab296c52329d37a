"""What the agent has said lately, word by word."""

from __future__ import annotations

import pytest

from duologue.turns.own_speech import KEEP_MS, WORDS_MAX, OwnSpeech, SpokenWord

pytestmark = pytest.mark.req("H-12")

HELLO = (SpokenWord("Hello,", 0, 400), SpokenWord("who's", 450, 700), SpokenWord("there?", 700, 1_000))


def test_a_word_has_the_time_at_which_it_was_played() -> None:
    own = OwnSpeech().saying(1, HELLO, heard_ms=800, now=5_800)
    assert own.words == (
        SpokenWord("hello", 5_000, 5_400),
        SpokenWord("who's", 5_450, 5_700),
        SpokenWord("there", 5_700, 6_000),
    )


def test_a_word_that_has_not_begun_is_not_there() -> None:
    own = OwnSpeech().saying(1, HELLO, heard_ms=440, now=1_440)
    assert [word.text for word in own.words] == ["hello"]


def test_a_known_word_keeps_its_time_when_playback_is_held_after_it() -> None:
    """Playback was held for a second between the reports."""
    own = OwnSpeech().saying(1, HELLO, 420, 1_420).saying(1, HELLO, 1_000, 3_000)
    assert [word.start_ms for word in own.words] == [1_000, 2_450, 2_700]


def test_the_words_of_an_earlier_voice_stay() -> None:
    own = OwnSpeech().saying(1, HELLO, 1_000, 2_000).saying(2, (SpokenWord("Well", 0, 300),), 300, 4_000)
    assert [word.text for word in own.words] == ["hello", "who's", "there", "well"]


def test_old_words_are_forgotten() -> None:
    own = OwnSpeech().saying(1, HELLO, 1_000, 1_000).saying(2, (SpokenWord("Well", 0, 300),), 0, KEEP_MS + 500)
    assert [word.text for word in own.words] == ["who's", "there", "well"]


def test_the_number_of_words_has_a_limit() -> None:
    many = tuple(SpokenWord("so", at * 10, at * 10 + 10) for at in range(WORDS_MAX + 20))
    assert len(OwnSpeech().saying(1, many, 10_000, 10_000).words) == WORDS_MAX
