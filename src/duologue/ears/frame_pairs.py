"""The audio of a conversation, frame by frame: what was heard, and what the line played at the same time.

A line is the connection to the user. Its audio is converted to the sample rate and frame length of the models. Rule:
the heard audio and the played audio always have the same length. If a line doesn't report what it plays, the played
audio is missing or silent.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.audio.frames import FrameCutter, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.ears import Frame

from .model_input import Samples, UnusableAudio, np

_SAMPLE = 2  # bytes


class FramePair(NamedTuple):
    """A frame of the audio that was heard, and the frame of the audio that was played at the same time. `played` is
    None if nothing was played."""

    heard: Samples
    played: Samples | None


class FramePairs:
    """The audio of one conversation. The sample rate may change, for example when a phone call moves to a browser."""

    def __init__(self, rate_hz: int, frame_samples: int) -> None:
        self._rate_hz = rate_hz
        self._frame_samples = frame_samples
        self._plain = _PlainPairs(frame_samples)
        self._resampled: _ResampledPairs | None = None  # once a frame had another rate than the models

    def feed(self, frame: Frame) -> list[FramePair]:
        """Add a frame from the line. Returns the pairs of frames that are now complete, at the sample rate and frame
        length of the models."""
        heard, played = len(frame.pcm), len(frame.played)
        if heard % _SAMPLE or (played and played != heard):
            raise _problem(frame)
        if self._resampled is None and frame.rate_hz == self._rate_hz:
            return self._plain.feed(frame.pcm, frame.played)
        if self._resampled is None:
            resampled = _ResampledPairs(self._rate_hz, self._frame_samples)
            resampled.feed(self._plain.rest(self._rate_hz))
            self._resampled = resampled
        return self._resampled.feed(frame)


def _problem(frame: Frame) -> UnusableAudio:
    """The error that says why a frame can't be used."""
    for side in (frame.pcm, frame.played):
        if len(side) % _SAMPLE:
            return UnusableAudio(f"16-bit PCM needs an even number of bytes, not {len(side)}")
    heard, played = len(frame.pcm) // _SAMPLE, len(frame.played) // _SAMPLE
    return UnusableAudio(
        f"a frame has {heard} samples that were heard, but {played} that were played: send equally many"
    )


class _PlainPairs:
    """Pairs of frames from audio that already has the sample rate of the models. The audio is kept as bytes until a
    frame is complete."""

    def __init__(self, frame_samples: int) -> None:
        self._size = frame_samples * _SAMPLE
        self._heard = bytearray()
        self._played = bytearray()  # empty while nothing is played

    def feed(self, heard: bytes, played: bytes) -> list[FramePair]:
        if played or self._played:
            self._played += bytes(len(self._heard) - len(self._played)) + (played or bytes(len(heard)))
        self._heard += heard
        if len(self._heard) < self._size:
            return []
        pairs = list[FramePair]()
        while len(self._heard) >= self._size:
            pairs.append(_pair(self._cut(self._heard), self._cut(self._played) if self._played else None))
        return pairs

    def _cut(self, side: bytearray) -> Samples:
        samples = to_samples(side[: self._size])
        del side[: self._size]
        return samples

    def rest(self, rate_hz: int) -> Frame:
        """The audio that doesn't fill a frame yet."""
        return Frame(bytes(self._heard), rate_hz, bytes(self._played))


class _ResampledPairs:
    """Pairs of frames from audio of any sample rate."""

    def __init__(self, rate_hz: int, frame_samples: int) -> None:
        self._rate_hz = rate_hz
        self._incoming_hz = rate_hz
        self._heard, self._played = LiveResampler(rate_hz, rate_hz), LiveResampler(rate_hz, rate_hz)
        self._cutters = FrameCutter(frame_samples), FrameCutter(frame_samples)

    def feed(self, frame: Frame) -> list[FramePair]:
        if frame.rate_hz != self._incoming_hz:
            self._heard = LiveResampler(frame.rate_hz, self._rate_hz)
            self._played = LiveResampler(frame.rate_hz, self._rate_hz)
            self._incoming_hz = frame.rate_hz
        heard = to_samples(frame.pcm)
        played = to_samples(frame.played) if frame.played else np.zeros_like(heard)
        heard_cutter, played_cutter = self._cutters
        pairs = zip(
            heard_cutter.feed(self._heard.feed(heard)), played_cutter.feed(self._played.feed(played)), strict=True
        )
        return [_pair(heard, played) for heard, played in pairs]


def _pair(heard: Samples, played: Samples | None) -> FramePair:
    return FramePair(heard, played if played is not None and played.any() else None)
