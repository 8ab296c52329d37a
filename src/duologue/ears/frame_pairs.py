"""The two sides of the audio that comes in, frame by frame: what is heard, and what was played meanwhile.

Makes one rate and one length of whatever a line sends. Rule: the two sides never drift apart; where a line
says nothing of what it plays, that side is silent.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.audio.frames import FrameCutter, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.ears import Frame

from .model_input import Samples, UnusableAudio, np


class FramePair(NamedTuple):
    """One frame of both sides, of the same length."""

    heard: Samples
    played: Samples


class FramePairs:
    """One conversation. The rate may change: a phone call may move to a browser."""

    def __init__(self, rate_hz: int, frame_samples: int) -> None:
        self._rate_hz = rate_hz
        self._given_hz = rate_hz
        self._frame_samples = frame_samples
        self._heard, self._played = LiveResampler(rate_hz, rate_hz), LiveResampler(rate_hz, rate_hz)
        self._cutters = FrameCutter(frame_samples), FrameCutter(frame_samples)

    def feed(self, frame: Frame) -> list[FramePair]:
        """The frames that this one completed."""
        if frame.rate_hz != self._given_hz:
            self._heard = LiveResampler(frame.rate_hz, self._rate_hz)
            self._played = LiveResampler(frame.rate_hz, self._rate_hz)
            self._given_hz = frame.rate_hz
        heard = to_samples(frame.pcm)
        played = to_samples(frame.played) if frame.played else np.zeros_like(heard)
        if played.size != heard.size:
            raise UnusableAudio(f"{heard.size} samples were heard and {played.size} played in the same time")
        mine, theirs = self._cutters
        pairs = zip(mine.feed(self._heard.feed(heard)), theirs.feed(self._played.feed(played)), strict=True)
        return [FramePair(*pair) for pair in pairs]
