"""The sound of one item of a response, in pieces, with the words that it says.

The server sends sound and words side by side and never says which word sounds when. Rule: every piece but
the last says that more is to come, so that the ledger shares all of the words over all of the sound.
"""

from __future__ import annotations

from duologue.ports.sound import Sound

from .settings import RATE_HZ

_MS_BYTES = RATE_HZ // 1000 * 2
TAIL_MS = 10  # kept back until the item is over: words that come last need a sound to go with


class ItemAudio:
    """One item."""

    def __init__(self) -> None:
        self._kept = b""
        self._words = ""

    def add_words(self, text: str) -> None:
        self._words += text

    def add(self, pcm: bytes) -> Sound | None:
        """What may be played now."""
        pcm = self._kept + pcm
        ms = len(pcm) // _MS_BYTES - TAIL_MS
        if ms <= 0:
            self._kept = pcm
            return None
        self._kept = pcm[ms * _MS_BYTES :]
        return self._sound(pcm[: ms * _MS_BYTES], ms, more=True)

    def rest(self) -> Sound | None:
        """The last piece; the item is over."""
        pcm, self._kept = self._kept, b""
        if not pcm:
            return None
        pcm += bytes(-len(pcm) % _MS_BYTES)
        return self._sound(pcm, len(pcm) // _MS_BYTES, more=False)

    def _sound(self, pcm: bytes, ms: int, more: bool) -> Sound:
        words, self._words = self._words, ""
        return Sound(ms, pcm, RATE_HZ, text=words, more=more)
