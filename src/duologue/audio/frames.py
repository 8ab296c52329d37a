"""Samples in pieces: to and from 16-bit PCM, cut into frames, kept for a while, freed of an offset.

Rule: a position counts samples from the beginning of the stream and never starts again.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Samples: TypeAlias = NDArray[np.float32]

FULL_SCALE = 32_768
_PCM16 = np.dtype("<i2")
_DC_MS = 500  # how slowly a running offset is followed: far below speech


class UnusableAudio(ValueError):
    """Sound that can't be used. The message is one line that says why."""


# -- PCM


def to_samples(pcm: bytes | bytearray | memoryview) -> Samples:
    """16-bit PCM as samples."""
    if len(pcm) % 2:
        raise UnusableAudio(f"16-bit PCM has an even number of bytes, not {len(pcm)}")
    return np.frombuffer(pcm, _PCM16).astype(np.float32) * np.float32(1 / FULL_SCALE)


def to_pcm(samples: Samples) -> bytes:
    """Samples as 16-bit PCM; what is too loud is clipped."""
    scaled: Samples = np.rint(samples * np.float32(FULL_SCALE))
    return scaled.clip(-FULL_SCALE, FULL_SCALE - 1).astype(_PCM16).tobytes()


def samples_in(ms: int, rate_hz: int) -> int:
    """How many samples so many milliseconds are. A rate at which that is no whole number is refused,
    because frames would drift."""
    count, rest = divmod(ms * rate_hz, 1000)
    if rest or count <= 0:
        raise UnusableAudio(f"{ms} ms at {rate_hz} Hz is no whole number of samples above 0")
    return count


# -- Frames


class Cutter:
    """Cuts a stream that comes in pieces of any length into frames of one length."""

    def __init__(self, frame_samples: int) -> None:
        assert frame_samples > 0, frame_samples
        self._size = frame_samples
        self._rest: Samples = np.empty(0, np.float32)

    def feed(self, samples: Samples) -> list[Samples]:
        """The frames that these samples completed."""
        if self._rest.size:
            samples = np.concatenate((self._rest, samples))
        whole = samples.size - samples.size % self._size
        self._rest = samples[whole:].copy()  # not a view: it would keep all of the piece alive
        return [samples[at : at + self._size] for at in range(0, whole, self._size)]

    def rest(self) -> Samples:
        """What does not fill a frame; the stream is over or begins anew."""
        rest, self._rest = self._rest, np.empty(0, np.float32)
        return rest


class Ring:
    """The newest samples of a stream, found by their position in it."""

    def __init__(self, samples_max: int) -> None:
        assert samples_max > 0, samples_max
        self._kept: Samples = np.zeros(samples_max, np.float32)
        self.end = 0  # the position after the newest sample

    @property
    def start(self) -> int:
        """The position of the oldest sample that is still here."""
        return max(0, self.end - self._kept.size)

    def write(self, samples: Samples) -> None:
        """Add samples; the oldest go."""
        self.end += samples.size
        samples = samples[-self._kept.size :]
        at = (self.end - samples.size) % self._kept.size
        first = min(samples.size, self._kept.size - at)
        self._kept[at : at + first] = samples[:first]
        self._kept[: samples.size - first] = samples[first:]

    def read(self, start: int, end: int) -> Samples:
        """A copy of the samples from `start` to before `end`, or as much of that as is here: what has
        gone is missing at the beginning, what has not come at the end."""
        start, end = max(start, self.start), min(end, self.end)
        if start >= end:
            return np.empty(0, np.float32)
        at, size = start % self._kept.size, end - start
        if at + size <= self._kept.size:
            return self._kept[at : at + size].copy()
        return np.concatenate((self._kept[at:], self._kept[: at + size - self._kept.size]))


# -- Offset


def without_dc(samples: Samples) -> Samples:
    """The whole sound around zero."""
    return samples - np.float32(samples.mean()) if samples.size else samples


class DcRemover:
    """Takes a steady offset out of a stream, frame by frame, without a step between two of them."""

    def __init__(self, rate_hz: int) -> None:
        self._memory = rate_hz * _DC_MS // 1000
        self._offset: float | None = None
        self._ramp: Samples = np.empty(0, np.float32)  # from 0 to 1 over a frame

    def feed(self, samples: Samples) -> Samples:
        if not samples.size:
            return samples
        mean = float(samples.mean())
        before = mean if self._offset is None else self._offset
        self._offset = before + (mean - before) * samples.size / (samples.size + self._memory)
        if self._ramp.size != samples.size:
            self._ramp = np.arange(1, samples.size + 1, dtype=np.float32) / np.float32(samples.size)
        return samples - (np.float32(self._offset - before) * self._ramp + np.float32(before))
