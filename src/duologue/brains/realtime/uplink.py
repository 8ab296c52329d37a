"""Resamples the user's audio, detects where sound begins, and buffers the audio while there is no session.

Rule: audio is sent once and in order. Every buffer is bounded, and a full buffer drops its oldest audio.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from duologue.ports.ears import Frame, Incoming

from .settings import RATE_HZ

if TYPE_CHECKING:
    from duologue.audio.resample import LiveResampler

COPIED_MAX = 250  # frames of 20 ms, so five seconds, buffered for local ears that are slow


class RecentAudio:
    """A buffer of the newest audio, up to `ms_max`."""

    def __init__(self, ms_max: int, rate_hz: int = RATE_HZ) -> None:
        self._max = ms_max * rate_hz // 1000 * 2
        self._pieces: deque[bytes] = deque()
        self._size = 0

    def add(self, pcm: bytes) -> None:
        self._pieces.append(pcm)
        self._size += len(pcm)
        while self._size > self._max and len(self._pieces) > 1:
            self._size -= len(self._pieces.popleft())

    def take(self) -> list[bytes]:
        """Empty the buffer and return its audio, oldest first."""
        pieces = list(self._pieces)
        self.clear()
        return pieces

    def clear(self) -> None:
        self._pieces.clear()
        self._size = 0


class UplinkResampler:
    """Converts frames of any sample rate to the sample rate of the protocol."""

    def __init__(self, to_hz: int = RATE_HZ) -> None:
        self._to_hz = to_hz
        self._rate_hz = to_hz
        self._resampler: LiveResampler | None = None

    def convert(self, frame: Frame) -> bytes:
        if frame.rate_hz == self._to_hz:
            return frame.pcm
        from duologue.audio.frames import to_pcm, to_samples
        from duologue.audio.resample import LiveResampler

        if self._resampler is None or self._rate_hz != frame.rate_hz:
            self._rate_hz, self._resampler = frame.rate_hz, LiveResampler(frame.rate_hz, self._to_hz)
        return to_pcm(self._resampler.feed(to_samples(frame.pcm)))


class Onsets:
    """Detects where sound begins and ends, only by its loudness. That is enough for push-to-talk, which needs to know
    only whether there is anything to transcribe."""

    LEVEL = 0.01
    ON_MS = 60
    OFF_MS = 400

    def __init__(self, rate_hz: int = RATE_HZ) -> None:
        self._ms_bytes = rate_hz // 1000 * 2
        self._on_ms = 0
        self._off_ms = 0
        self.is_on = False

    def feed(self, pcm: bytes) -> bool | None:
        """Process more audio. Returns True when sound begins, False when it ends, and None otherwise."""
        from duologue.audio.frames import to_samples
        from duologue.audio.levels import rms

        ms = len(pcm) // self._ms_bytes
        is_loud = rms(to_samples(pcm)) > self.LEVEL
        self._on_ms = self._on_ms + ms if is_loud else 0
        self._off_ms = 0 if is_loud else self._off_ms + ms
        if not self.is_on and self._on_ms >= self.ON_MS:
            self.is_on = True
            return True
        if self.is_on and self._off_ms >= self.OFF_MS:
            self.is_on = False
            return False
        return None


class AudioCopy:
    """A copy of the user's audio for local VAD and STT. If they fall too far behind, they miss audio frames, but never
    the signal that a turn is over (Commit) or was only noise (Discard)."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Incoming | None] = asyncio.Queue()

    def put(self, item: Incoming | None) -> None:
        if not isinstance(item, Frame) or self._queue.qsize() < COPIED_MAX:
            self._queue.put_nowait(item)

    def __aiter__(self) -> AudioCopy:
        return self

    async def __anext__(self) -> Incoming:
        item = await self._queue.get()
        if item is None:
            raise StopAsyncIteration
        return item
