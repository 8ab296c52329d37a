"""The start and the end of a spoken sentence: trims silence, adds a pause of a chosen length, and avoids clicks.

Works on 16-bit mono PCM as it arrives. Rule: nothing between the first and the last sound of a sentence is changed.
"""

from __future__ import annotations

from array import array

LEAD_MS = 20  # silence that is kept before the first sound
BLOCK_MS = 5
FADE_MS = 5
_QUIET_MAX = 150  # louder samples are sound; full scale is 32,768


class SentenceEdges:
    """Trims the silence at the start and the end of one sentence. `pause_ms` is the length of the silence after its
    last sound."""

    def __init__(self, rate_hz: int, pause_ms: int) -> None:
        self._block = rate_hz * BLOCK_MS // 1000 * 2  # bytes
        self._lead = rate_hz * LEAD_MS // 1000 * 2
        self._pause = rate_hz * pause_ms // 1000 * 2
        self._fade = rate_hz * FADE_MS // 1000
        self._given = bytearray()  # less than a block
        self._silence = bytearray()  # since the last sound
        self._has_begun = False

    def take(self, pcm: bytes) -> bytes:
        """Add audio of the sentence. Returns the audio that can be played now: up to the last sound that was found.
        Silence after it is held back."""
        self._given += pcm
        ready = bytearray()
        while len(self._given) >= self._block:
            block = bytes(self._given[: self._block])
            del self._given[: self._block]
            if _is_quiet(block):
                self._silence += block
            else:
                ready += self._silence_before_sound() + block
                self._silence.clear()
        return bytes(ready)

    def rest(self) -> bytes:
        """The pause at the end of the sentence; empty if the sentence had no sound."""
        if not self._has_begun:
            return b""
        tail = bytes(self._silence + self._given)[: self._pause]
        return faded_out(tail, self._fade).ljust(self._pause, b"\0")

    def _silence_before_sound(self) -> bytes:
        if self._has_begun:
            return bytes(self._silence)
        self._has_begun = True
        return faded_in(bytes(self._silence[-self._lead :]), self._fade)


def _is_quiet(pcm: bytes) -> bool:
    samples = array("h", pcm)
    return min(samples) >= -_QUIET_MAX and max(samples) <= _QUIET_MAX


def faded_in(pcm: bytes, samples_max: int) -> bytes:
    """The audio with a fade-in: its first samples rise from silence."""
    samples = array("h", pcm)
    count = min(samples_max, len(samples))
    for number in range(count):
        samples[number] = samples[number] * number // count
    return samples.tobytes()


def faded_out(pcm: bytes, samples_max: int) -> bytes:
    """The audio with a fade-out: its last samples fall to silence."""
    samples = array("h", pcm)
    count = min(samples_max, len(samples))
    for number in range(count):
        samples[-1 - number] = samples[-1 - number] * number // count
    return samples.tobytes()
