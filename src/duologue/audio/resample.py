"""Converts audio from one sample rate to another: a whole recording, or a stream with almost no delay.

soxr has the best quality, but it works in blocks: it delays a stream by 20 to 65 ms on average, and by up to 115 ms
when it converts from 8 to 16 kHz. So soxr is used for recordings, and `LiveResampler`, which delays the audio by at
most 2 ms, is used for live audio. Rule: if both rates are equal, samples pass unchanged and soxr isn't loaded.
"""

from __future__ import annotations

import importlib
import math
from functools import cache
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from .frames import Samples, UnusableAudio

RATE_HZ_MIN = 1_000
RATE_HZ_MAX = 384_000
_PHASES_MAX = 1_000  # 22,050 to 16,000 Hz needs 320; more would make the table too large
_ZEROS = 16  # zero crossings of the sinc filter, on each side
_BETA = 8.0  # the shape of the sinc filter's Kaiser window, for about 80 dB attenuation
_CUTOFF = 0.92  # the cutoff frequency, as a share of half the lower rate


def resample(samples: Samples, from_hz: int, to_hz: int) -> Samples:
    """Convert a whole recording to another rate."""
    _check(from_hz, to_hz)
    if from_hz == to_hz or not samples.size:
        return samples
    resampled: Samples = _soxr().resample(samples, from_hz, to_hz, "HQ")
    return resampled


def _check(*rates_hz: int) -> None:
    for rate_hz in rates_hz:
        if not RATE_HZ_MIN <= rate_hz <= RATE_HZ_MAX:
            raise UnusableAudio(f"a sample rate must be from {RATE_HZ_MIN} to {RATE_HZ_MAX} Hz, not {rate_hz}")


def _soxr() -> ModuleType:
    try:
        return importlib.import_module("soxr")
    except ModuleNotFoundError as missing:
        if missing.name != "soxr":
            raise
        raise ModuleNotFoundError("resampling needs soxr: pip install 'duologue[speech]'", name="soxr") from None


# -- Live streams


class LiveResampler:
    """Resamples a stream with a windowed sinc filter in numpy. The filter has an attenuation of about 80 dB and a delay
    of 1 to 2 ms, and takes 30 to 80 µs for 20 ms of audio."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        _check(from_hz, to_hz)
        shared = math.gcd(from_hz, to_hz)
        self._up, self._down = to_hz // shared, from_hz // shared
        if self._up > _PHASES_MAX:
            raise UnusableAudio(
                f"{from_hz} and {to_hz} Hz have too small a common divisor for a live stream: use a standard rate"
            )
        self._taps = _taps(self._up, self._down)
        self._half = self._taps.shape[1] // 2
        self._begin()

    def _begin(self) -> None:
        self._buffer: Samples = np.zeros(self._half - 1, np.float32)  # silence before the first sample
        self._phase = 0  # from the first buffered sample to the next output, in 1/up of a sample
        self._owed = 0  # input whose output is still missing, in 1/up of a sample

    def feed(self, samples: Samples) -> Samples:
        """Add samples. Returns the output that is ready now, which may be empty."""
        if self._up == self._down or not samples.size:
            return samples
        self._owed += samples.size * self._up
        return self._advance(samples)

    def finish(self) -> Samples:
        """End the stream. Returns the rest of the output. The next `feed` starts a new stream."""
        if self._up == self._down:
            return np.empty(0, np.float32)
        owed = max(0, -(-self._owed // self._down))
        rest = self._advance(np.zeros(self._half, np.float32))[:owed]
        self._begin()
        return rest

    def _advance(self, samples: Samples) -> Samples:
        """Add samples. Returns all output that can be computed from the samples that have arrived."""
        buffer = np.concatenate((self._buffer, samples))
        count = -(-((buffer.size - 2 * self._half + 1) * self._up - self._phase) // self._down)
        if count <= 0:
            self._buffer = buffer
            return np.empty(0, np.float32)
        positions = self._phase + np.arange(count) * self._down
        windows = np.lib.stride_tricks.sliding_window_view(buffer, 2 * self._half)
        ready: Samples = np.einsum("ij,ij->i", windows[positions // self._up], self._taps[positions % self._up])
        following = self._phase + count * self._down
        used = following // self._up
        self._buffer, self._phase = buffer[used:], following - used * self._up
        self._owed -= count * self._down
        return ready


@cache
def _taps(up: int, down: int) -> Samples:
    """The filter taps, with one row for each position that an output sample can have between two input samples."""
    cutoff = min(1.0, up / down) * _CUTOFF
    half = math.ceil(_ZEROS / cutoff)
    distance = np.arange(up)[:, None] / up - (np.arange(2 * half) - half + 1)[None, :]
    window = np.i0(_BETA * np.sqrt(np.clip(1 - (distance / half) ** 2, 0, None)))
    taps: NDArray[np.float64] = np.sinc(distance * cutoff) * window
    taps /= taps.sum(axis=1, keepdims=True)
    return taps.astype(np.float32)
