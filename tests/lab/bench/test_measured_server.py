"""The scripted parts of the measured server; test_server measures with the whole process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from duologue.audio.frames import to_pcm
from duologue.lab.bench.instant_text import SAID, InstantText
from duologue.lab.bench.measured_server import CountingEars, LoudEars, ServerFigures, resident_kb
from duologue.ports.ears import Final, Frame, Heard, Incoming, Partial, SpeechBegan, SpeechEnded

LOUD = Frame(to_pcm(np.full(512, 0.3, np.float32)))
QUIET = Frame(to_pcm(np.zeros(512, np.float32)))


def heard_by(ears: LoudEars | CountingEars, frames: list[Frame]) -> list[Heard]:
    async def stream() -> AsyncIterator[Incoming]:
        for frame in frames:
            yield frame

    async def listen() -> list[Heard]:
        return [item async for item in ears.listen(stream())]

    return asyncio.run(listen())


def test_loud_sound_is_speech_with_a_partial_and_a_final_text() -> None:
    heard = heard_by(LoudEars(), [QUIET] * 3 + [LOUD] * 12 + [QUIET] * 8)
    assert [type(item) for item in heard] == [SpeechBegan, Partial, SpeechEnded, Final]
    assert [item.text for item in heard if isinstance(item, Partial | Final)] == [SAID, SAID]


def test_a_short_dip_does_not_end_speech_and_the_next_speech_has_the_next_number() -> None:
    heard = heard_by(LoudEars(), [LOUD] * 5 + [QUIET] * 5 + [LOUD] * 3 + [QUIET] * 6 + [LOUD] + [QUIET] * 6)
    assert [item.utterance for item in heard if isinstance(item, SpeechBegan)] == [1, 2]


def test_the_frames_with_which_onsets_were_reported_are_counted() -> None:
    ears = CountingEars(LoudEars())
    heard_by(ears, [QUIET] * 3 + [LOUD] * 4 + [QUIET] * 6 + [LOUD])
    assert ears.onsets == [3, 13]


def test_the_instant_text_has_a_word_for_each_word() -> None:
    found = InstantText().transcribe(np.zeros(1, np.float32))
    assert found.text == " ".join(word.text for word in found.words) == SAID


def test_resident_memory_is_that_of_a_python_process() -> None:
    assert 5_000 < resident_kb() < 50_000_000


def test_the_memory_of_a_conversation_is_counted_after_the_first_ones_have_loaded_code() -> None:
    loading = [1024 * 50 + 1024 * min(count, 10) for count in range(10)]
    growing = [1024 * 60 + 100 * count for count in range(40)]
    assert ServerFigures(resident_kb=loading + growing).mb_per_session(1024 * 60 + 4_000) == pytest.approx(100 / 1024)
    assert ServerFigures().mb_per_session(1024) == 0
