"""Converts the samples of a stream to and from 16-bit PCM, and cuts them into frames.

Rule: a position counts samples from the start of the stream and is never reset.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Samples: TypeAlias = NDArray[np.float32]

FULL_SCALE = 32_768
_PCM16 = np.dtype("<i2")
_SCALE = np.float32(1 / FULL_SCALE)


class UnusableAudio(ValueError):
    """Audio that can't be used. The message is one line that says why."""


# -- PCM


def to_samples(pcm: bytes | bytearray | memoryview) -> Samples:
    """Convert 16-bit PCM to samples."""
    if len(pcm) % 2:
        raise UnusableAudio(f"16-bit PCM needs an even number of bytes, not {len(pcm)}")
    return np.multiply(np.frombuffer(pcm, _PCM16), _SCALE, dtype=np.float32)


def to_pcm(samples: Samples) -> bytes:
    """Convert samples to 16-bit PCM. Values beyond full scale are clipped."""
    scaled: Samples = np.rint(samples * np.float32(FULL_SCALE))
    return scaled.clip(-FULL_SCALE, FULL_SCALE - 1).astype(_PCM16).tobytes()


# -- Frames


class FrameCutter:
    """Cuts a stream that arrives in pieces of any length into frames of one length."""

    def __init__(self, frame_samples: int) -> None:
        assert frame_samples > 0, frame_samples
        self._size = frame_samples
        self._rest: Samples = np.empty(0, np.float32)

    def feed(self, samples: Samples) -> list[Samples]:
        """Add samples. Returns the frames that are now complete."""
        if self._rest.size:
            samples = np.concatenate((self._rest, samples))
        whole = samples.size - samples.size % self._size
        self._rest = samples[whole:].copy()  # not a view, which would keep the whole piece in memory
        return [samples[at : at + self._size] for at in range(0, whole, self._size)]

    def rest(self) -> Samples:
        """Return the remaining samples, which don't fill a frame, and forget them. Call this at the end of a stream.
        The next `feed` starts a new stream."""
        rest, self._rest = self._rest, np.empty(0, np.float32)
        return rest
