"""Sound that a client commits, and its text."""

from __future__ import annotations

from collections.abc import AsyncIterator

from duologue.ports.ears import Heard, Incoming
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.realtime.committed_audio import frames_of, transcribe
from tests.server.realtime.tone_agent import ToneEars, silence, tone


def test_sound_is_cut_into_frames() -> None:
    frames = frames_of(tone(50), 24_000)
    assert [len(frame.pcm) for frame in frames] == [960, 960, 480]
    assert frames_of(b"", 24_000) == []


def test_all_that_was_said_is_written() -> None:
    pcm = tone(200) + silence(400) + tone(200)
    assert run_simulated(transcribe(ToneEars(["one", "two"]), frames_of(pcm, 24_000))) == "one two"


def test_ears_that_fail_or_hang_write_nothing() -> None:
    class Broken:
        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
            raise ConnectionError
            yield

    assert run_simulated(transcribe(Broken(), frames_of(tone(100), 24_000))) is None
    assert run_simulated(transcribe(ToneEars(), frames_of(silence(100), 24_000))) is None
