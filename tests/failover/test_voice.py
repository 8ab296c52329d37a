"""Several voices as one: a switch in the middle of a sentence cuts no word and says none twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue import Fallback
from duologue.failover.voice import LEAD_MS_MIN, FallbackVoice, split_sound
from duologue.ports import ServiceError, Sound, Word
from duologue.ports.markup import SpeechTag, TaggedText
from duologue.ports.playback_lead import tell_playback_lead
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


@settings(deadline=None)
@given(fails_after_ms=st.integers(0, 1_440), lead_ms=st.integers(0, 3_000))
def test_while_earlier_sentences_are_heard_a_sentence_that_breaks_is_said_whole_by_the_next_voice(
    fails_after_ms: int, lead_ms: int
) -> None:
    """Without word times: the clock says how much of the earlier sound is left, as the line would."""
    first, second = Voice(fails_after_ms, has_times=False), Voice(has_times=False)

    async def work() -> list[Sound] | None:
        loop = asyncio.get_running_loop()
        tell_playback_lead(lambda: max(0, lead_ms - round(loop.time() * 1000)))
        voice = Fallback(first, second)
        try:
            return await sounds_of(voice)
        except ServiceError:
            return None

    sounds = run_simulated(work())
    if lead_ms > LEAD_MS_MIN or fails_after_ms == 0:
        assert second.texts == [TEXT]
        assert sounds is not None
        assert sum(sound.ms for sound in sounds) == len(TEXT) * CHAR_MS
    else:
        assert sounds is None
        assert not second.texts


def test_sound_is_not_held_back_for_longer_than_the_listener_has_sound() -> None:
    class Slow(Voice):
        async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
            async for sound in super().speak(text):
                yield sound
                await asyncio.sleep(0.4)

    async def work() -> list[float]:
        loop = asyncio.get_running_loop()
        tell_playback_lead(lambda: max(0, 2_000 - round(loop.time() * 1000)))
        came = []
        async for _ in Fallback(Slow(has_times=False), Voice()).speak(TEXT):
            came.append(loop.time())
        return came

    came = run_simulated(work())
    assert 1.3 <= came[0] <= 1.5  # LEAD_MS_MIN before the end of the earlier sound
    assert came[3] == came[0]  # all that was held back


def test_tags_are_given_to_the_voice_that_takes_them() -> None:
    class Tagged(Voice):
        def speak_tagged(self, tagged: TaggedText) -> AsyncGenerator[Sound, None]:
            self.tagged = tagged
            return self.speak(tagged.text)

    first, second = Tagged(fails_after_ms=0), Voice()
    text = TaggedText(TEXT, (SpeechTag("speed", "0.8", 5, 10),))

    async def work() -> list[Sound]:
        voice = Fallback(first, second)
        return [sound async for sound in voice.speak_tagged(text)]

    run_simulated(work())
    assert first.tagged == text
    assert second.texts == [TEXT]
