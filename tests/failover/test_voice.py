"""Several voices as one: a switch in the middle of a sentence cuts no word and says none twice."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue import Fallback
from duologue.failover.voice import FallbackVoice, split_sound
from duologue.ports import ServiceError, Sound, Word
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.ledger import Ledger
from tests.failover.failing_services import CHAR_MS, Voice

TEXT = "Your table is booked for seven."


async def sounds_of(voice: FallbackVoice, text: str = TEXT) -> list[Sound]:
    return [sound async for sound in voice.speak(text)]


def ledger_of(sounds: list[Sound]) -> Ledger:
    ledger = Ledger()
    ledger.begin(TEXT)
    for sound in sounds:
        ledger.add(sound)
    ledger.end()
    return ledger


def test_a_voice_that_fails_before_its_first_sound_is_followed_by_the_next() -> None:
    first, second = Voice(fails_after_ms=0), Voice()
    ledger = ledger_of(run_simulated(sounds_of(Fallback(first, second))))
    assert second.texts == [TEXT]
    assert ledger.total_ms == len(TEXT) * CHAR_MS


@settings(deadline=None)
@given(fails_after_ms=st.integers(0, 1_600))
def test_wherever_a_voice_with_word_times_fails_each_word_is_said_once(fails_after_ms: int) -> None:
    first, second = Voice(), Voice()
    voice = Fallback(first, second)

    async def work() -> list[Sound]:
        await sounds_of(voice)  # from now on it is known that the voice tells word times
        first.fails_after_ms = fails_after_ms
        return await sounds_of(voice)

    sounds = run_simulated(work())
    said = [word.text for sound in sounds for word in sound.words]
    assert said == TEXT.split()
    whole = ledger_of(sounds)
    assert whole.split(whole.total_ms).heard == TEXT
    if len(second.texts) == 1:  # it has gone on where the first voice stopped, at a word
        assert TEXT.endswith(second.texts[0])
        assert TEXT[: -len(second.texts[0])] in ("", *(TEXT[: at + 1] for at, c in enumerate(TEXT) if c == " "))


def test_the_ledger_knows_the_words_of_both_voices() -> None:
    first, second = Voice(), Voice()
    voice = Fallback(first, second)

    async def work() -> list[Sound]:
        await sounds_of(voice)
        first.fails_after_ms = 600
        return await sounds_of(voice)

    ledger = ledger_of(run_simulated(work()))
    assert second.texts == ["is booked for seven."]
    assert ledger.split(590).heard == "Your table"
    assert ledger.split(600).heard == "Your table is", "the second voice begins where the last word ended"


def test_without_word_times_a_sentence_that_breaks_fails() -> None:
    first, second = Voice(fails_after_ms=240, has_times=False), Voice()
    with pytest.raises(ServiceError, match="down"):
        run_simulated(sounds_of(Fallback(first, second)))
    assert not second.texts


def test_if_all_voices_fail_the_sentence_fails() -> None:
    with pytest.raises(ServiceError, match="down"):
        run_simulated(sounds_of(Fallback(Voice(fails_after_ms=0), Voice(fails_after_ms=0))))


def test_a_slow_voice_is_hedged() -> None:
    first, second = Voice(wait_ms=3_000), Voice()
    run_simulated(sounds_of(Fallback(first, second, after_ms=400)))
    assert second.texts == [TEXT]
    assert first.closed == 1


def test_a_sound_is_split_with_its_words() -> None:
    sound = Sound(100, bytes(48 * 100), 24_000, (Word("a", 0, 40), Word("b", 40, 90)))
    first, later = split_sound(sound, 40)
    assert (first.ms, len(first.pcm), first.words) == (40, 48 * 40, (Word("a", 0, 40),))
    assert (later.ms, len(later.pcm), later.words) == (60, 48 * 60, (Word("b", 0, 50),))
