"""Keeps the sound of one voice (one utterance of the agent) as long as a line may have to send it, or send it again.

The sound is kept in blocks of a third of a second. Each block is memory that the operating system gives to this block
alone, and that it gets back as soon as the block isn't needed any more. Memory from Python's allocator would stay with
the process: it is freed in small parts between other objects, and such parts are rarely given back. Rule: positions
count samples from the start of the voice.
"""

from __future__ import annotations

import mmap
import sys

from duologue.audio.frames import UnusableAudio, to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.sound import Sound

BLOCK_BYTES = 16_384  # four pages of memory


class VoiceSound:
    """The sound of the current voice (utterance of the agent), converted to the sample rate `rate_hz`. Sound that can't
    be needed any more isn't kept."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._blocks: list[mmap.mmap] = []  # all of them are full, except the last one
        self._start = 0  # the position of the first sample in `_blocks`
        self._size = 0  # how many bytes of sound are in `_blocks`
        self._source_hz = rate_hz
        self._resampler: LiveResampler | None = None  # if the voice has another rate

    def begin(self) -> None:
        """Begin a new utterance, and forget the sound of the previous one."""
        self._blocks.clear()
        self._start = self._size = 0
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
        at = 0
        while at < len(pcm):
            used = self._size % BLOCK_BYTES
            if not used:
                self._blocks.append(_new_block())
            part = pcm[at : at + BLOCK_BYTES - used]
            self._blocks[-1][used : used + len(part)] = part
            self._size += len(part)
            at += len(part)
        return len(pcm) // 2

    @property
    def memory_bytes(self) -> int:
        """How much memory the sound takes."""
        return len(self._blocks) * BLOCK_BYTES

    def take(self, start: int, end: int) -> bytes:
        """The samples from the position `start` up to the position `end`."""
        first, last = (start - self._start) * 2, min((end - self._start) * 2, self._size)
        found = []
        while first < last:
            number, used = divmod(first, BLOCK_BYTES)
            found.append(self._blocks[number][used : used + last - first])
            first += len(found[-1])
        return found[0] if len(found) == 1 else b"".join(found)

    def drop_before(self, position: int) -> None:
        """Forget the blocks that end before this position, or at it."""
        heard = max(0, position - self._start) * 2
        if heard >= self._size:
            count, dropped = len(self._blocks), self._size
        else:
            count = heard // BLOCK_BYTES
            dropped = count * BLOCK_BYTES
        if count:
            del self._blocks[:count]
            self._start += dropped // 2
            self._size -= dropped


def _new_block() -> mmap.mmap:
    if sys.platform == "win32":
        return mmap.mmap(-1, BLOCK_BYTES)
    return mmap.mmap(-1, BLOCK_BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
