"""PCM and word times become sounds of whole 20 ms, and each word gets into the sound in which it ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.ports import ServiceError, Sound, Word
from duologue.voice.timed_sound import TimedSound

RATE = 24_000


def pcm(ms: int, rate_hz: int = RATE) -> bytes:
    return bytes(rate_hz * ms // 1000 * 2)


def sounds_of(*given: int | Word) -> list[Sound]:
    """The sounds of so many milliseconds of PCM, with words in between."""
    timed, found = TimedSound("Vendor"), list[Sound]()
    for one in given:
        if isinstance(one, Word):
            timed.add_words([one])
        else:
            found += timed.feed(pcm(one), RATE)
    return found + timed.rest()


def placed(sounds: list[Sound]) -> list[Word]:
    """The words with times from the start of the sentence."""
    found, at = list[Word](), 0
    for sound in sounds:
        found += [Word(word.text, at + word.start_ms, at + word.end_ms) for word in sound.words]
        at += sound.ms
    return found


def test_words_keep_their_times() -> None:
    sounds = sounds_of(Word("one", 0, 80), 100, Word("two", 100, 290), 200)
    assert placed(sounds) == [Word("one", 0, 80), Word("two", 100, 290)]
    assert sum(sound.ms for sound in sounds) == 300


def test_words_that_come_after_their_sound_still_get_their_times() -> None:
    sounds = sounds_of(300, Word("one", 0, 100), Word("two", 100, 250), 100)
    assert placed(sounds) == [Word("one", 0, 100), Word("two", 100, 250)]


def test_words_that_come_after_all_sound_are_in_the_last_piece() -> None:
    sounds = sounds_of(300, Word("one", 0, 250))
    assert placed(sounds) == [Word("one", 0, 250)]
    assert sounds[-1].words


def test_words_out_of_order_and_words_without_text_are_survived() -> None:
    words = Word("two", 100, 200), Word("three", 100, 150), Word("", 0, 0)
    assert placed(sounds_of(*words, 300)) == [Word("two", 100, 200), Word("three", 100, 200)]


def test_a_word_that_ends_after_the_sound_ends_with_it() -> None:
    assert placed(sounds_of(Word("long", 50, 500), 100)) == [Word("long", 50, 100)]


@given(st.lists(st.integers(1, 330), min_size=1, max_size=12))
def test_no_sound_is_lost_and_every_piece_is_a_multiple_of_20_ms(lengths: list[int]) -> None:
    sounds = sounds_of(*lengths)
    assert all(sound.ms % 20 == 0 and 0 < sound.ms <= 200 for sound in sounds)
    assert all(len(sound.pcm) == RATE * sound.ms // 1000 * 2 for sound in sounds)
    assert 0 <= sum(sound.ms for sound in sounds) - sum(lengths) < 20


def test_half_a_sample_at_the_end_is_dropped() -> None:
    timed = TimedSound("Vendor")
    found = [*timed.feed(pcm(30) + b"x", RATE), *timed.rest()]
    assert sum(sound.ms for sound in found) == 40


def test_a_rate_that_changes_is_followed() -> None:
    timed = TimedSound("Vendor")
    sounds = [*timed.feed(pcm(100), RATE), *timed.feed(pcm(100, 16_000), 16_000), *timed.rest()]
    assert {sound.rate_hz for sound in sounds} == {RATE, 16_000}
    assert sum(sound.ms for sound in sounds) == 200


def test_nothing_is_nothing() -> None:
    assert TimedSound("Vendor").rest() == []


@pytest.mark.parametrize(
    ("data", "rate_hz", "told"),
    [
        (bytes(40), 11_026, "11026 Hz: ask it for sample_rate=24000"),
        (b"ID3\x03" + bytes(996), RATE, "sent MP3 instead of pcm"),
        (b"RIFF" + bytes(996), RATE, "sent WAV instead of pcm"),
    ],
)
def test_audio_that_cannot_be_played_names_the_setting(data: bytes, rate_hz: int, told: str) -> None:
    with pytest.raises(ServiceError, match=told):
        TimedSound("Vendor").feed(data, rate_hz)
