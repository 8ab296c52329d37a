"""A quiet background sound that a line plays all the time, mixed into everything else that it plays.

Sound is 16-bit mono PCM. Rule: the ambient sound is quieter while the agent's voice plays. Without an ambient sound,
everything else is played unchanged.
"""

from __future__ import annotations

import numpy as np

from duologue.audio.frames import Samples, to_pcm, to_samples

DUCKED = 0.4  # the share of the ambient sound that is left while a voice plays
_RAMP = 0.05  # the largest change of that share in one frame, so that it isn't heard as a click


class AmbientLoop:
    """The ambient sound of one line. Without samples, `mix` changes nothing."""

    def __init__(self, pcm: bytes = b"") -> None:
        self._samples: Samples = to_samples(pcm)
        self._at = 0
        self._share = 1.0

    def __bool__(self) -> bool:
        return bool(self._samples.size)

    def mix(self, pcm: bytes, is_voice: bool) -> bytes:
        """Mix the next part of the ambient sound into this piece of sound, and return the mixed piece."""
        if not self._samples.size:
            return pcm
        wanted = DUCKED if is_voice else 1.0
        before = self._share
        self._share = min(max(wanted, before - _RAMP), before + _RAMP)
        heard = to_samples(pcm)
        share = np.linspace(before, self._share, heard.size, dtype=np.float32)
        return to_pcm(heard + self._next(heard.size) * share)

    def _next(self, samples: int) -> Samples:
        at = (self._at + np.arange(samples)) % self._samples.size
        self._at = (self._at + samples) % self._samples.size
        part: Samples = self._samples[at]
        return part
