"""Passes audio frames to a plugin's stream, and counts how much was passed.

A plugin's stream accepts only one sample rate. Rule: every frame is converted to the sample rate of the first frame.
"""

from __future__ import annotations

from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Frame

from .failures import PluginFailed
from .plugin_loop import rtc


class PushedFrames:
    """Passes the audio frames of one stream to a plugin."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._rate_hz = 0
        self._resamplers: dict[int, Any] = {}
        self._samples = 0

    @property
    def at_ms(self) -> int:
        """How many milliseconds of audio were passed so far."""
        return self._samples * 1000 // self._rate_hz if self._rate_hz else 0

    def push(self, frame: Frame) -> None:
        """Pass a frame to the plugin. Raises PluginFailed if the frame isn't 16-bit mono PCM."""
        if frame.rate_hz <= 0 or len(frame.pcm) % 2:
            raise PluginFailed(
                ErrorClass.INVALID_ARGS,
                f"a frame of {len(frame.pcm)} bytes at {frame.rate_hz} Hz isn't 16-bit PCM: check the audio source",
            )
        self._rate_hz = self._rate_hz or frame.rate_hz
        made = audio_frame(frame.pcm, frame.rate_hz)
        if made is None:
            return
        if frame.rate_hz == self._rate_hz:
            self._pass(made)
            return
        resampler = self._resamplers.get(frame.rate_hz)
        if resampler is None:
            resampler = self._resamplers[frame.rate_hz] = rtc().AudioResampler(frame.rate_hz, self._rate_hz)
        for piece in resampler.push(made):
            self._pass(piece)

    def _pass(self, frame: Any) -> None:
        self._samples += frame.samples_per_channel
        self._stream.push_frame(frame)


def audio_frame(pcm: bytes, rate_hz: int) -> Any:
    """These samples as an AudioFrame of LiveKit; None if there are no samples."""
    return rtc().AudioFrame(pcm, rate_hz, 1, len(pcm) // 2) if pcm else None
