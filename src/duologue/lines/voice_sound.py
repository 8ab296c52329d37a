"""Keeps the sound of one voice (one utterance of the agent) as long as a line may have to send it, or send it again.

The sound is kept in the pieces in which it came, and each piece is freed as soon as it isn't needed any more. One large
buffer would keep all its memory until the end of the utterance, and even then the memory might not be given back. Rule:
positions count samples from the start of the voice.
"""

from __future__ import annotations

import sys

from duologue.audio.frames import UnusableAudio, to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.sound import Sound

PIECE_BYTES = 9_600  # a longer piece is divided, so that its beginning can be freed


class VoiceSound:
    """The part of the current voice (utterance of the agent) that may still have to be sent or sent again, converted to
    the sample rate `rate_hz`."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._pieces: list[bytes] = []
        self._start = 0  # the position of the first sample in `_pieces`
        self._source_hz = rate_hz
        self._resampler: LiveResampler | None = None  # if the voice has another rate

    def begin(self) -> None:
        """Begin a new utterance, and forget the sound of the previous one."""
        self._pieces.clear()
        self._start = 0
        self._flush()

    def add(self, sound: Sound) -> int:
        """Add a piece of sound. Returns how many more samples can be sent now. The resampler may hold back a few
        samples until the next piece."""
        pcm = sound.pcm or bytes(sound.rate_hz * sound.ms // 1000 * 2)
        if len(pcm) % 2:
            raise UnusableAudio(f"16-bit audio must have an even number of bytes, not {len(pcm)}")
        added = 0
        if sound.rate_hz != self._source_hz:
            is_same = sound.rate_hz == self._rate_hz
            resampler = None if is_same else LiveResampler(sound.rate_hz, self._rate_hz)
            added = self._keep(self._flush())
            self._resampler, self._source_hz = resampler, sound.rate_hz
        if self._resampler is not None:
            pcm = to_pcm(self._resampler.feed(to_samples(pcm)))
        return added + self._keep(pcm)

    def finish(self) -> int:
        """Add the samples that the resampler has held back. Returns how many samples these are."""
        return self._keep(self._flush())

    def _flush(self) -> bytes:
        return b"" if self._resampler is None else to_pcm(self._resampler.finish())

    def _keep(self, pcm: bytes) -> int:
        if len(pcm) > PIECE_BYTES:
            self._pieces.extend(bytes(pcm[at : at + PIECE_BYTES]) for at in range(0, len(pcm), PIECE_BYTES))
        elif pcm:
            self._pieces.append(bytes(pcm))
        return len(pcm) // 2

    @property
    def memory_bytes(self) -> int:
        """How much memory the sound takes."""
        return sys.getsizeof(self._pieces) + sum(map(sys.getsizeof, self._pieces))

    def take(self, start: int, end: int) -> bytes:
        """The samples from the position `start` up to the position `end`."""
        first, last = (start - self._start) * 2, (end - self._start) * 2
        found = []
        for piece in self._pieces:
            if first < len(piece):
                found.append(piece[max(0, first) : last])
            first, last = first - len(piece), last - len(piece)
            if last <= 0:
                break
        return found[0] if len(found) == 1 else b"".join(found)

    def drop_before(self, position: int) -> None:
        """Forget the pieces of which no sample is at this position or after it."""
        count, start = 0, self._start
        for piece in self._pieces:
            if start + len(piece) // 2 > position:
                break
            count, start = count + 1, start + len(piece) // 2
        if count:
            del self._pieces[:count]
            self._start = start
