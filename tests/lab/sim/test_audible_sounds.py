"""A sound is heard where its samples are loud, whatever its length says."""

from __future__ import annotations

import pytest

from duologue.lab.sim.audible_sounds import AudibleSound, audible_sounds
from duologue.lines.scripted import RecordedSound
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.built_in_sounds import thinking_sound
from duologue.voice.scripted import ScriptedVoice

LOUD, QUIET = b"\x00\x20", b"\x20\x00"


def sound(ms: int, sample: bytes = LOUD, of_ms: int | None = None) -> Sound:
    return Sound(ms, sample * (8 * (ms if of_ms is None else of_ms)), 8_000)


def played(*pieces: tuple[int, Sound], start_ms: int = 1_000, ms: int = 400, from_ms: int = 0) -> RecordedSound:
    return RecordedSound("voice", 3, start_ms, start_ms + ms, from_ms, pieces)


def heard(start_ms: int, end_ms: int, is_speech: bool = False) -> AudibleSound:
    return AudibleSound("voice", 3, start_ms, end_ms, is_speech)


@pytest.mark.req("H-01.signs")
def test_a_loud_sound_is_heard_from_its_beginning_to_its_end() -> None:
    assert audible_sounds([played((0, sound(200)), (200, sound(200)))], ()) == [heard(1_000, 1_400)]


@pytest.mark.req("H-01.signs")
@pytest.mark.parametrize(
    "silent", [Sound(400), Sound(400, b"\0" * 6_400, 8_000), sound(400, QUIET), sound(400, of_ms=0)]
)
def test_a_sound_without_samples_or_with_silent_ones_is_silence(silent: Sound) -> None:
    assert audible_sounds([played((0, silent))], ()) == []


@pytest.mark.req("H-01.signs")
def test_a_sound_with_fewer_samples_than_its_length_says_is_heard_only_as_long_as_they_last() -> None:
    assert audible_sounds([played((0, sound(400, of_ms=100)))], ()) == [heard(1_000, 1_100)]


@pytest.mark.req("H-01.signs")
def test_silence_inside_a_sound_divides_it() -> None:
    pieces = ((0, sound(100)), (100, sound(200, QUIET)), (300, sound(100)))
    assert audible_sounds([played(*pieces)], ()) == [
        heard(1_000, 1_100),
        heard(1_300, 1_400),
    ]


@pytest.mark.req("H-01.signs")
def test_a_sound_that_was_held_goes_on_at_the_sample_at_which_it_stopped() -> None:
    pieces = ((0, sound(200)), (200, sound(200, QUIET)))
    first, second = played(*pieces, ms=100), played(*pieces, start_ms=2_000, ms=300, from_ms=100)
    assert audible_sounds([second, first], ()) == [
        heard(1_000, 1_100),
        heard(2_000, 2_100),
    ]


@pytest.mark.req("H-01.signs")
def test_the_thinking_sound_and_the_simulated_voice_can_be_heard() -> None:
    (tones,) = audible_sounds([played((0, thinking_sound()), ms=thinking_sound().ms)], ())
    assert tones.end_ms - tones.start_ms >= 400

    async def speak() -> list[Sound]:
        return [sound async for sound in ScriptedVoice(rate_hz=8_000).speak("hello there")]

    pieces, place_ms = [], 0
    for one in run_simulated(speak()):
        assert len(one.pcm) == one.ms * 16
        pieces.append((place_ms, one))
        place_ms += one.ms
    speech = {one.pcm for _, one in pieces}
    whole = heard(1_000, 1_000 + place_ms, is_speech=True)
    assert audible_sounds([played(*pieces, ms=place_ms)], speech) == [whole]


@pytest.mark.req("H-01.words")
def test_speech_and_other_sounds_in_one_cue_are_told_apart_by_their_samples() -> None:
    word, beep = sound(200, b"\x00\x10"), sound(200)
    found = audible_sounds([played((0, beep), (200, word))], {word.pcm})
    assert found == [heard(1_000, 1_200), heard(1_200, 1_400, is_speech=True)]
    assert [one.is_speech for one in audible_sounds([played((0, beep))], {word.pcm})] == [False]
