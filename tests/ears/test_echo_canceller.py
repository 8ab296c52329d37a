"""The echo canceller passes audio through WebRTC in pieces of 10 ms, and never returns more or less than it got."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.echo_canceller import EchoCanceller, is_installed
from tests.ears.ears_recordings import noise, silence

PIECE = 160


class Subtracting:
    """Stands in for WebRTC's module: the echo is exactly what was played."""

    def __init__(self, **options: bool) -> None:
        self.played = np.zeros(PIECE, np.int16)

    def set_stream_delay_ms(self, ms: int) -> None:
        assert ms == 0

    def process_reverse_stream(self, frame: Any) -> None:
        self.played = np.frombuffer(frame.data, np.int16)

    def process_stream(self, frame: Any) -> None:
        heard = np.frombuffer(frame.data, np.int16)
        frame.data = memoryview((heard - self.played).tobytes())


class Frame:
    def __init__(self, data: bytearray, rate_hz: int, channels: int, samples: int) -> None:
        assert (rate_hz, channels, samples) == (16_000, 1, PIECE)
        self.data = memoryview(data)


@pytest.fixture
def canceller(monkeypatch: pytest.MonkeyPatch) -> EchoCanceller:
    rtc = ModuleType("livekit.rtc")
    rtc.AudioProcessingModule, rtc.AudioFrame = Subtracting, Frame  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "livekit", ModuleType("livekit"))
    monkeypatch.setitem(sys.modules, "livekit.rtc", rtc)
    return EchoCanceller()


def through(canceller: EchoCanceller, heard: Samples, played: Samples, size: int) -> Samples:
    pieces = [canceller.feed(heard[at : at + size], played[at : at + size]) for at in range(0, heard.size, size)]
    return np.concatenate(pieces)


@pytest.mark.parametrize("size", [512, 320, 100])
def test_the_echo_is_removed_and_the_voice_arrives_10_ms_later(canceller: EchoCanceller, size: int) -> None:
    voice, echo = noise(0.48, 0.1, seed=1), noise(0.48, 0.1, seed=2)
    cleaned = through(canceller, voice + echo, echo, size)
    assert cleaned.size == voice.size
    assert np.abs(cleaned[PIECE:] - voice[:-PIECE]).max() < 1e-3


def test_silence_stays_silent(canceller: EchoCanceller) -> None:
    assert not through(canceller, silence(0.2), silence(0.2), 512).any()


def test_without_the_package_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "livekit", None)
    monkeypatch.delitem(sys.modules, "livekit.rtc", raising=False)
    assert not is_installed()
