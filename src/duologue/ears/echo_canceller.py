"""Acoustic echo cancellation: removes the agent's own voice from the microphone's audio.

Uses the echo canceller of WebRTC, from the package livekit. It works in pieces of 10 ms, so the audio is delayed by 10
ms. Rule: if the package isn't installed, or until the agent makes its first sound, the audio isn't changed.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from duologue.audio.frames import FrameCutter, to_pcm, to_samples

from .model_input import RATE_HZ, Samples, np

_PIECE = RATE_HZ // 100


def is_installed() -> bool:
    """Is an echo canceller installed?"""
    try:
        return importlib.util.find_spec("livekit.rtc") is not None
    except ModuleNotFoundError:
        return False


def is_default() -> bool:
    """Should the echo canceller be used by default? Yes, if it is installed and the plugins of `duologue[livekit]`
    aren't. These plugins install the same package, so the user may have installed it only because of them."""
    return is_installed() and importlib.util.find_spec("livekit.agents") is None


class EchoCanceller:
    """The echo canceller of one conversation."""

    def __init__(self) -> None:
        self._rtc: Any = importlib.import_module("livekit.rtc")
        self._processing = self._rtc.AudioProcessingModule(
            echo_cancellation=True, noise_suppression=False, high_pass_filter=False, auto_gain_control=False
        )
        self._processing.set_stream_delay_ms(0)
        self._heard, self._played = FrameCutter(_PIECE), FrameCutter(_PIECE)
        self._ready: Samples = np.zeros(_PIECE, np.float32)

    def feed(self, heard: Samples, played: Samples) -> Samples:
        """Return `heard` without the echo of `played`. The result has as many samples as `heard` and is delayed by 10
        ms."""
        pairs = zip(self._heard.feed(heard), self._played.feed(played), strict=True)
        self._ready = np.concatenate((self._ready, *(self._process(*pair) for pair in pairs)))
        done, self._ready = self._ready[: heard.size], self._ready[heard.size :]
        return done

    def _process(self, heard: Samples, played: Samples) -> Samples:
        self._processing.process_reverse_stream(self._frame(played))
        frame = self._frame(heard)
        self._processing.process_stream(frame)
        return to_samples(bytes(frame.data.cast("B")))

    def _frame(self, samples: Samples) -> Any:
        return self._rtc.AudioFrame(bytearray(to_pcm(samples)), RATE_HZ, 1, _PIECE)
