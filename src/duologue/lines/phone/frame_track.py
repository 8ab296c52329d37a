"""The sound of one voice (utterance of the agent) or of one cue, as encoded frames of 20 ms.

A frame is kept until it was heard, so that it can be sent again after a hold. Rule: `sent` and `heard` count frames
from the beginning, and `heard` never goes back.
"""

from __future__ import annotations

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.sound import Sound

from .codecs import FRAME_MS, Codec


class FrameTrack:
    """The sound of one voice (one utterance of the agent) or of one cue."""

    def __init__(self, voice: int, codec: Codec) -> None:
        self.voice = voice
        self.take = 1  # counted up when sound is sent again after a hold
        self.sent = self.heard = 0  # frames
        self.is_held = self.is_complete = False
        self.samples = 0
        self.resampler = LiveResampler(codec.rate_hz, codec.rate_hz)
        self.from_hz = codec.rate_hz
        self._codec = codec
        self._frames: list[bytes] = []
        self._gone = 0  # frames that were heard and removed
        self._rest = b""

    @property
    def total(self) -> int:
        return self._gone + len(self._frames)

    @property
    def has_more(self) -> bool:
        """Is there a frame to send?"""
        return self.sent < self.total

    @property
    def is_out(self) -> bool:
        """Has the caller heard everything that was sent? Then no sound of this track is left in the carrier's
        buffer."""
        return self.sent == self.heard

    @property
    def is_all_sent(self) -> bool:
        return self.is_complete and self.sent == self.total

    @property
    def heard_ms(self) -> int:
        """How many milliseconds were heard. The silence that fills up the last frame isn't included."""
        return min(self.heard * FRAME_MS, self.samples * 1000 // self._codec.rate_hz)

    def add(self, sound: Sound) -> None:
        codec = self._codec
        if not sound.pcm:  # simulated sound has only a length
            self._cut(codec.encode(bytes(2 * (codec.rate_hz * sound.ms // 1000))))
            return
        if sound.rate_hz != self.from_hz:
            self.finish_resampling()
            self.from_hz = sound.rate_hz
            self.resampler = LiveResampler(sound.rate_hz, codec.rate_hz)
        self._cut(codec.encode(to_pcm(self.resampler.feed(to_samples(sound.pcm)))))

    def finish_resampling(self) -> None:
        self._cut(self._codec.encode(to_pcm(self.resampler.finish())))

    def complete(self) -> None:
        """Record that the sound has ended, and fill up its last frame with silence, because carriers may refuse a
        shorter frame."""
        self.finish_resampling()
        if self._rest:
            self._frames.append((self._rest + self._codec.silence)[: self._codec.frame_bytes])
            self._rest = b""
        self.is_complete = True

    def _cut(self, coded: bytes) -> None:
        self.samples += len(coded) // self._codec.bytes_per_sample
        coded, size = self._rest + coded, self._codec.frame_bytes
        whole = len(coded) - len(coded) % size
        self._frames += [coded[at : at + size] for at in range(0, whole, size)]
        self._rest = coded[whole:]

    def next(self) -> bytes:
        """The next frame to send."""
        frame = self._frames[self.sent - self._gone]
        self.sent += 1
        return frame

    def note_heard(self, frames: int) -> None:
        self.heard = max(self.heard, frames)
        del self._frames[: self.heard - self._gone]
        self._gone = self.heard

    def rewind(self) -> None:
        """Go back to the first frame that was not heard, so that `next` returns that frame again."""
        self.take += 1
        self.sent = self.heard
