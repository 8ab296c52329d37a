"""The echo of a telephone line: what the agent says comes back to it, quieter and later.

Rule: the echo is computed from what the carrier really played, in µ-law at 8 kHz, sample by sample.
"""

from __future__ import annotations

import numpy as np

from duologue.audio.frames import Samples, to_pcm, to_samples
from duologue.audio.g711 import pcm_to_ulaw, ulaw_to_pcm

RATE_HZ = 8_000


class LineEcho:
    """The echo of one call. `level_db` is its level relative to what was played, `delay_ms` is how late it comes."""

    def __init__(self, level_db: float, delay_ms: int) -> None:
        self.level_db = level_db
        self.delay_ms = delay_ms
        self._gain = np.float32(10 ** (level_db / 20))
        self._sound: Samples = np.zeros(delay_ms * RATE_HZ // 1000, np.float32)  # the echo that hasn't come back yet

    def play(self, coded: bytes) -> None:
        """Add a piece of sound that the carrier has played: the agent's voice, or silence."""
        self._sound = np.concatenate((self._sound, to_samples(ulaw_to_pcm(coded)) * self._gain))

    def mix(self, coded: bytes) -> bytes:
        """Mix the echo into this piece of the caller's sound, and return the result. Each piece continues directly
        after the piece before."""
        echo, self._sound = self._sound[: len(coded)], self._sound[len(coded) :]
        if not echo.any():
            return coded
        heard = to_samples(ulaw_to_pcm(coded))
        heard[: echo.size] += echo
        return pcm_to_ulaw(to_pcm(heard))
