"""Combines the audio and the transcript of one item of a response into chunks.

The server streams audio and transcript separately, and doesn't say when each word is spoken. Rule: every chunk except
the last is marked `more`. The playback ledger, which tracks what the user has heard, then assumes that the words are
spread evenly over the audio of all chunks.
"""

from __future__ import annotations

from duologue.ports.sound import Sound

from .settings import RATE_HZ

_MS_BYTES = RATE_HZ // 1000 * 2
TAIL_MS = 10  # audio held back until the item ends, so that words that arrive last still have audio


class ItemAudio:
    """The audio and transcript of one item."""

    def __init__(self) -> None:
        self._held = b""
        self._words = ""

    def add_words(self, text: str) -> None:
        self._words += text

    def add(self, pcm: bytes) -> Sound | None:
        """Add audio, and return the audio that may be played now; None if there is too little. The last TAIL_MS are
        held back."""
        pcm = self._held + pcm
        ms = len(pcm) // _MS_BYTES - TAIL_MS
        if ms <= 0:
            self._held = pcm
            return None
        self._held = pcm[ms * _MS_BYTES :]
        return self._sound(pcm[: ms * _MS_BYTES], ms, more=True)

    def rest(self) -> Sound | None:
        """The last chunk of audio, for when the item has ended; None if no audio is left."""
        pcm, self._held = self._held, b""
        if not pcm:
            return None
        pcm += bytes(-len(pcm) % _MS_BYTES)
        return self._sound(pcm, len(pcm) // _MS_BYTES, more=False)

    def _sound(self, pcm: bytes, ms: int, more: bool) -> Sound:
        words, self._words = self._words, ""
        return Sound(ms, pcm, RATE_HZ, text=words, more=more)
