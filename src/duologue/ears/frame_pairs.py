"""Incoming audio frame by frame: what was heard, and what the line played at the same time.

A line is the connection to the user. Its sample rate and frame length are converted to those of the models. Rule: both
sides always have the same length. If a line doesn't report what it plays, the played side is silent.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.audio.frames import FrameCutter, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.ears import Frame

from .model_input import Samples, UnusableAudio, np


class FramePair(NamedTuple):
    """One frame of the audio that was heard, and the frame that was played at the same time."""

    heard: Samples
    played: Samples


class FramePairs:
    """The audio of one conversation. The rate may change: a phone call may move to a browser."""

    def __init__(self, rate_hz: int, frame_samples: int) -> None:
        self._rate_hz = rate_hz
        self._incoming_hz = rate_hz
        self._frame_samples = frame_samples
        self._heard, self._played = LiveResampler(rate_hz, rate_hz), LiveResampler(rate_hz, rate_hz)
        self._cutters = FrameCutter(frame_samples), FrameCutter(frame_samples)

    def feed(self, frame: Frame) -> list[FramePair]:
        """The pairs of frames that this incoming frame completed, at the rate and length of the models."""
        if frame.rate_hz != self._incoming_hz:
            self._heard = LiveResampler(frame.rate_hz, self._rate_hz)
            self._played = LiveResampler(frame.rate_hz, self._rate_hz)
            self._incoming_hz = frame.rate_hz
        heard = to_samples(frame.pcm)
        played = to_samples(frame.played) if frame.played else np.zeros_like(heard)
        if played.size != heard.size:
            raise UnusableAudio(f"a frame has {heard.size} heard and {played.size} played samples: send equally many")
        heard_cutter, played_cutter = self._cutters
        pairs = zip(
            heard_cutter.feed(self._heard.feed(heard)), played_cutter.feed(self._played.feed(played)), strict=True
        )
        return [FramePair(*pair) for pair in pairs]
