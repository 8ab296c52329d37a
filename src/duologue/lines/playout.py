"""The queue of samples between the event loop, which fills it, and the audio thread, which plays it.

It holds one voice at a time (the sound of one utterance), as 16-bit mono PCM of one rate. Rule: samples that the audio
thread has taken count as played. After a hold the next sample is silence, and a clear drops the rest. Played sound is
counted in samples, never in time.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import NamedTuple

_SAMPLE = 2  # bytes


class PlayedAmount(NamedTuple):
    """How much of a voice was played, and whether that is all of it."""

    voice: int
    heard_ms: int
    is_all: bool


class Playout:
    """A queue of sound that two threads may use at the same time."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._lock = threading.Lock()
        self._pieces: deque[memoryview] = deque()
        self._voice = 0
        self._played = 0  # samples of this voice
        self._is_held = False
        self._is_complete = False

    # -- For the event loop

    def play(self, voice: int, pcm: bytes) -> None:
        """Queue a piece of sound. A new voice replaces the previous one."""
        with self._lock:
            if voice != self._voice:
                self._begin(voice)
            self._pieces.append(memoryview(pcm))

    def finish(self, voice: int) -> None:
        with self._lock:
            self._is_complete = self._is_complete or voice == self._voice

    def hold(self, voice: int) -> None:
        with self._lock:
            self._is_held = self._is_held or voice == self._voice

    def resume(self, voice: int) -> None:
        with self._lock:
            self._is_held = self._is_held and voice != self._voice

    def clear(self, voice: int) -> int:
        """Drop the rest of a voice. Returns how much of it was heard, in ms."""
        with self._lock:
            if voice != self._voice:
                return 0
            heard_ms = self._heard_ms
            self._begin(0)
            return heard_ms

    def heard(self) -> PlayedAmount | None:
        """How much of the current voice was played; None if there is no voice. After a result with `is_all`, the voice
        is removed, so that its end is returned only once."""
        with self._lock:
            if not self._voice:
                return None
            is_all = self._is_complete and not self._pieces
            found = PlayedAmount(self._voice, self._heard_ms, is_all)
            if is_all:
                self._begin(0)
            return found

    def _begin(self, voice: int) -> None:
        self._pieces.clear()
        self._voice, self._played = voice, 0
        self._is_held = self._is_complete = False

    @property
    def _heard_ms(self) -> int:
        return self._played * 1000 // self._rate_hz

    # -- For the audio thread

    def take(self, samples: int) -> bytes:
        """The next samples to play. If too few are queued, silence follows them."""
        wanted = samples * _SAMPLE
        taken = bytearray()
        with self._lock:
            while self._pieces and not self._is_held and len(taken) < wanted:
                piece = self._pieces.popleft()
                room = wanted - len(taken)
                taken += piece[:room]
                if len(piece) > room:
                    self._pieces.appendleft(piece[room:])
            self._played += len(taken) // _SAMPLE
        return bytes(taken) + bytes(wanted - len(taken))
