"""From one sample rate to another: a whole sound, a stream at its best, or a stream without delay.

soxr sounds best, but it works in blocks: a stream through it is held back by 20 to 65 ms on average, and
from 8 to 16 kHz by up to 115. Sound that somebody waits for takes `LiveResampler`, which holds back 2 ms.
Rule: where the rates agree, samples pass as they are and nothing is loaded.
"""

from __future__ import annotations

import importlib
import math
from functools import cache
from types import ModuleType
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .frames import Samples, UnusableAudio

Quality: TypeAlias = Literal["QQ", "LQ", "MQ", "HQ", "VHQ"]

RATE_HZ_MIN = 1_000
RATE_HZ_MAX = 384_000
_PHASES_MAX = 1_000  # 22,050 to 16,000 Hz has 320; beyond this the table would be large
_ZEROS = 16  # of the sinc, on each side
_BETA = 8.0  # of its Kaiser window: about 80 dB
_CUTOFF = 0.92  # of half the lower rate


class StreamResampler(Protocol):
    """What both streams do."""

    def feed(self, samples: Samples) -> Samples:
        """What is ready after these samples; it may be nothing."""
        ...

    def finish(self) -> Samples:
        """What was held back. The next `feed` begins a new stream."""
        ...


def resample(samples: Samples, from_hz: int, to_hz: int, quality: Quality = "HQ") -> Samples:
    """A whole sound at another rate."""
    _check(from_hz, to_hz)
    if from_hz == to_hz or not samples.size:
        return samples
    resampled: Samples = _soxr().resample(samples, from_hz, to_hz, quality)
    return resampled


def _check(*rates_hz: int) -> None:
    for rate_hz in rates_hz:
        if not RATE_HZ_MIN <= rate_hz <= RATE_HZ_MAX:
            raise UnusableAudio(f"a sample rate lies from {RATE_HZ_MIN} to {RATE_HZ_MAX} Hz, not at {rate_hz}")


def _soxr() -> ModuleType:
    try:
        return importlib.import_module("soxr")
    except ModuleNotFoundError as missing:
        if missing.name != "soxr":
            raise
        raise ModuleNotFoundError("resampling needs soxr: pip install 'duologue[speech]'", name="soxr") from None


# -- Streams


class Resampler:
    """A stream by soxr."""

    def __init__(self, from_hz: int, to_hz: int, quality: Quality = "HQ") -> None:
        _check(from_hz, to_hz)
        self._stream: Any = None
        if from_hz != to_hz:
            self._stream = _soxr().ResampleStream(from_hz, to_hz, 1, dtype="float32", quality=quality)

    def feed(self, samples: Samples) -> Samples:
        if self._stream is None or not samples.size:
            return samples
        ready: Samples = self._stream.resample_chunk(samples)
        return ready

    def finish(self) -> Samples:
        if self._stream is None:
            return np.empty(0, np.float32)
        rest: Samples = self._stream.resample_chunk(np.empty(0, np.float32), last=True)
        self._stream.clear()
        return rest


class LiveResampler:
    """A stream by a windowed sinc in numpy: about 80 dB, 1 to 2 ms late, some 30 to 80 µs for 20 ms."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        _check(from_hz, to_hz)
        shared = math.gcd(from_hz, to_hz)
        self._up, self._down = to_hz // shared, from_hz // shared
        if self._up > _PHASES_MAX:
            raise UnusableAudio(f"{from_hz} and {to_hz} Hz have too little in common for a live stream")
        self._taps = _taps(self._up, self._down)
        self._half = self._taps.shape[1] // 2
        self._begin()

    def _begin(self) -> None:
        self._kept: Samples = np.zeros(self._half - 1, np.float32)  # silence before the first sample
        self._phase = 0  # where the next output lies after the first kept sample, in 1/up of a sample
        self._owed = 0  # input without its output so far, in 1/up of a sample

    def feed(self, samples: Samples) -> Samples:
        if self._up == self._down or not samples.size:
            return samples
        self._owed += samples.size * self._up
        return self._advance(samples)

    def finish(self) -> Samples:
        if self._up == self._down:
            return np.empty(0, np.float32)
        owed = max(0, -(-self._owed // self._down))
        rest = self._advance(np.zeros(self._half, np.float32))[:owed]
        self._begin()
        return rest

    def _advance(self, samples: Samples) -> Samples:
        """Every output whose taps all lie on samples that are here."""
        kept = np.concatenate((self._kept, samples))
        count = -(-((kept.size - 2 * self._half + 1) * self._up - self._phase) // self._down)
        if count <= 0:
            self._kept = kept
            return np.empty(0, np.float32)
        places = self._phase + np.arange(count) * self._down
        windows = np.lib.stride_tricks.sliding_window_view(kept, 2 * self._half)
        ready: Samples = np.einsum("ij,ij->i", windows[places // self._up], self._taps[places % self._up])
        following = self._phase + count * self._down
        gone = following // self._up
        self._kept, self._phase = kept[gone:], following - gone * self._up
        self._owed -= count * self._down
        return ready


@cache
def _taps(up: int, down: int) -> Samples:
    """One row of taps for each place that an output can have between two samples."""
    cutoff = min(1.0, up / down) * _CUTOFF
    half = math.ceil(_ZEROS / cutoff)
    distance = np.arange(up)[:, None] / up - (np.arange(2 * half) - half + 1)[None, :]
    window = np.i0(_BETA * np.sqrt(np.clip(1 - (distance / half) ** 2, 0, None)))
    taps: NDArray[np.float64] = np.sinc(distance * cutoff) * window
    taps /= taps.sum(axis=1, keepdims=True)
    return taps.astype(np.float32)
