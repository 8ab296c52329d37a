"""The sound of a measured page: where a recording is in the sound that arrived, and when its samples came."""

from __future__ import annotations

import asyncio

import numpy as np

from duologue.audio.frames import to_pcm, to_samples
from duologue.lab.bench.page_sound import TONE_MS, ArrivedSound, ToneVoice, script_argument

FRAME = 512
NOISE = np.random.default_rng(1).normal(0, 0.1, 16_000).astype(np.float32)


def arrived(sound: np.ndarray[tuple[int], np.dtype[np.float32]]) -> ArrivedSound:
    """The sound in frames of 32 ms, each of which came when it was over."""
    found = ArrivedSound()
    for number, at in enumerate(range(0, sound.size, FRAME), 1):
        found.add(to_pcm(sound[at : at + FRAME]), number * 32.0)
    return found


def test_a_recording_is_found_in_what_arrived() -> None:
    silence = np.zeros(5_000, np.float32)
    found = arrived(np.concatenate((silence, 0.8 * NOISE, silence)))
    assert found.place_of(NOISE) == 5_000
    assert found.arrival_of(5_000) == 320.0  # in the tenth frame
    assert found.arrival_of(10**9) is None


def test_a_recording_whose_beginning_was_lost_has_a_negative_place() -> None:
    assert arrived(NOISE[1_000:]).place_of(NOISE) == -1_000


def test_without_enough_sound_there_is_no_place() -> None:
    assert ArrivedSound().place_of(NOISE) is None
    assert arrived(NOISE).place_of(np.zeros(100, np.float32)) is None


def test_the_sound_that_had_arrived_at_a_time_is_counted() -> None:
    found = arrived(NOISE)
    assert [found.samples_at(at) for at in (0.0, 32.0, 70.0)] == [0, FRAME, 2 * FRAME]
    assert found.samples.size == NOISE.size


def test_the_voice_is_a_tone_that_comes_at_once() -> None:
    async def spoken() -> list[int]:
        return [int(np.abs(to_samples(one.pcm)).max() > 0.1) * one.ms async for one in ToneVoice().speak("Of course.")]

    assert asyncio.run(spoken()) == [TONE_MS]


def test_the_script_gets_samples_and_the_end_of_the_speech() -> None:
    assert script_argument(np.zeros(2, np.float32), 700) == {"pcm": "AAAAAA==", "endMs": 700}
