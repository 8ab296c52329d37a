"""Noise suppression: removes steady noise from the audio that is transcribed.

Noise suppression is off by default, because transcripts had more errors with it when this was measured (`duologue bench
noise`). Uses WebRTC's suppressor from the package webrtc-noise-gain, which works in pieces of 10 ms. Rule: only the
audio that is transcribed is changed. Voice detection and the judgement of pauses always get the audio before noise
suppression.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal, Protocol

from duologue.audio.frames import FrameCutter, to_pcm, to_samples

from .model_input import RATE_HZ, Samples, np

_PIECE = RATE_HZ // 100
_NO_GAIN = 0


class NoiseSuppressor(Protocol):
    """Removes noise from the audio of one conversation, at 16 kHz."""

    def feed(self, sound: Samples) -> Samples:
        """Return the sound without noise. The result must have exactly as many samples as were passed, and may be
        delayed a little. Called on the event loop for every frame of 32 ms, so it must return within a millisecond or
        two."""
        ...


class WebrtcNoiseSuppressor:
    """WebRTC's noise suppressor. It delays the audio by 16 ms, because it takes pieces of 10 ms and works with overlap.
    `level` is how much it suppresses: 1 (a little) to 4 (most)."""

    def __init__(self, level: Literal[1, 2, 3, 4] = 2) -> None:
        if level not in (1, 2, 3, 4):
            raise ValueError(f"level must be 1, 2, 3 or 4, not {level!r}")
        try:
            package: Any = importlib.import_module("webrtc_noise_gain")
        except ModuleNotFoundError as missing:
            if missing.name != "webrtc_noise_gain":
                raise
            raise ModuleNotFoundError(
                "noise suppression needs webrtc-noise-gain: pip install 'duologue[noise]'", name="webrtc_noise_gain"
            ) from None
        self._processor = package.AudioProcessor(_NO_GAIN, level)
        self._pieces = FrameCutter(_PIECE)
        self._ready: Samples = np.zeros(_PIECE, np.float32)

    def feed(self, sound: Samples) -> Samples:
        pieces = [to_samples(self._processor.Process10ms(to_pcm(piece)).audio) for piece in self._pieces.feed(sound)]
        self._ready = np.concatenate((self._ready, *pieces))
        done, self._ready = self._ready[: sound.size], self._ready[sound.size :]
        return done
