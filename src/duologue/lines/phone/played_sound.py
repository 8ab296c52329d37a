"""Finds out which part of the agent's sound was playing while each frame of the caller was recorded.

The echo of the agent's voice is in the caller's sound, so the ears need to know what was played. A carrier returns a
mark when it has played all sound before the mark. Marks and the caller's frames come on one socket in order. So a mark
shows which sent frame was playing when the caller's next frame was recorded. Between two marks, the number of the
caller's frames shows how much time has passed. Rule: sound is reported a little early and never late, because an echo
comes after its sound.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.resample import LiveResampler

from .codecs import FRAME_MS, Codec

SLACK_MS = 30  # marks and frames may be this far apart, because the network delays them differently
EARLY_MS = 60  # sound is reported this much before a mark says that it plays, because a carrier may return marks late
TRIP_MS_MAX = 2_000  # a longer round trip isn't believed


class _SentFrame(NamedTuple):
    """A frame that was sent to the carrier. `pcm` is its sound, at the sample rate of the caller's sound. `sent_at` is
    how many samples had arrived from the caller when the frame was sent."""

    pcm: bytes
    sent_at: int


class PlayedSound:
    """The sound that the agent has sent in one call. `out` is the codec of this sound, and `rate_hz` is the sample rate
    of the caller's sound."""

    def __init__(self, out: Codec, rate_hz: int) -> None:
        self.sent = 0  # frames that were sent in this call
        self._out = out
        self._rate_hz = rate_hz
        self._resampler = LiveResampler(out.rate_hz, rate_hz) if out.rate_hz != rate_hz else None
        self._frames: deque[_SentFrame] = deque()  # frames that no mark has confirmed yet
        self._next = 0  # the place in `_frames` of the frame that plays now
        self._offset = 0  # bytes of it that were taken
        self._heard = 0  # samples of the caller so far
        self._trip = 0  # samples from sending a frame until its sound can come back
        self._measures_trip = False  # the first of `_frames` was sent when the carrier had nothing else to play
        self._is_cleared = False  # no mark will confirm `_frames`

    def add(self, coded: bytes) -> None:
        """Record that this frame was sent to the carrier."""
        pcm = self._out.decode(coded)
        if self._resampler is not None:
            pcm = to_pcm(self._resampler.feed(to_samples(pcm)))
        if not self._frames:
            self._measures_trip, self._is_cleared = True, False
        self._frames.append(_SentFrame(pcm, self._heard))
        self.sent += 1

    def confirm(self, sent: int) -> None:
        """Record that a mark has returned, which shows that exactly the first `sent` frames of the call have been
        played."""
        played = sent - (self.sent - len(self._frames))
        if not 0 < played <= len(self._frames):
            return  # the mark is older than a clear
        slack = self._samples(SLACK_MS)
        if self._measures_trip:  # from the first mark on, the sound of a voice is aligned exactly
            trip = self._heard - self._samples_before(played) - self._frames[0].sent_at - self._samples(EARLY_MS)
            self._trip = min(max(0, trip), self._samples(TRIP_MS_MAX))
            self._measures_trip, slack = False, 0
        place = min(played + EARLY_MS // FRAME_MS, len(self._frames))
        early = self._samples_before(self._next) + self._offset // 2 - self._samples_before(place)
        if abs(early) > slack:
            self._next, self._offset = place, 0
        self._drop(min(played, self._next))

    def clear(self) -> None:
        """Record that the carrier was told to drop its buffer. Until that command arrives, the carrier goes on
        playing."""
        playing = -(-self._trip * 1000 // (self._rate_hz * FRAME_MS))
        for _ in range(len(self._frames) - min(len(self._frames), self._next + playing)):
            self._frames.pop()
            self.sent -= 1
        self._is_cleared = True
        self._measures_trip = False
        self._drop(self._next)

    def take(self, samples: int) -> bytes:
        """The sound that was played while the caller's next `samples` samples were recorded. Empty if nothing was
        played."""
        wanted, taken = samples * 2, b""
        while len(taken) < wanted and self._next < len(self._frames):
            frame = self._frames[self._next]
            waits = frame.sent_at + self._trip - (self._heard + len(taken) // 2) if not self._offset else 0
            if waits > 0:
                taken += bytes(min(2 * waits, wanted - len(taken)))
                continue
            piece = frame.pcm[self._offset : self._offset + wanted - len(taken)]
            taken += piece
            self._offset += len(piece)
            if self._offset >= len(frame.pcm):
                self._next, self._offset = self._next + 1, 0
        self._heard += samples
        # A carrier that returns no marks must not fill the memory.
        self._drop(self._next if self._is_cleared else max(0, self._next - TRIP_MS_MAX // FRAME_MS))
        return taken + bytes(wanted - len(taken)) if any(taken) else b""

    def _samples_before(self, place: int) -> int:
        return sum(len(self._frames[at].pcm) for at in range(place)) // 2

    def _samples(self, ms: int) -> int:
        return ms * self._rate_hz // 1000

    def _drop(self, frames: int) -> None:
        for _ in range(frames):
            self._frames.popleft()
        self._next -= frames
        self._measures_trip = self._measures_trip and not frames
