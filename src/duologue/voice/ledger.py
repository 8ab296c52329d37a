"""The playback ledger: what a voice says, and how much of it was really heard (L-06, V-01).

The line tells how many milliseconds were played; the ledger knows which words those were. Rule: a
word counts as heard when its sound has ended, and text beyond that is not history.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from duologue.ports.sound import Sound, Word

CHAR_MS = 65  # how long a character lasts in speech, for a voice that tells no times and was cut off
_TOKEN = re.compile(r"\S+\s*")


class Split(NamedTuple):
    """A text, cut where hearing stopped."""

    heard: str
    unheard: str


@dataclass(slots=True)
class _Passage:
    """One sentence and its stretch of sound."""

    text: str
    start_ms: int
    ms: int = 0
    words: list[Word] = field(default_factory=list)
    whole: bool = False

    def split(self, heard_ms: int) -> Split:
        heard_ms -= self.start_ms
        if heard_ms <= 0:
            return Split("", self.text)
        if self.whole and heard_ms >= self.ms:
            return Split(self.text, "")
        cut = self._cut_by_times(heard_ms) if self.words else self._cut_by_length(heard_ms)
        return Split(self.text[:cut].rstrip(), self.text[cut:].lstrip())

    def _cut_by_times(self, heard_ms: int) -> int:
        """Where the last heard word ends in the text."""
        cut = 0
        for word in self.words:
            if word.end_ms > heard_ms:
                break
            found = self.text.find(word.text, cut)
            cut = found + len(word.text) if found >= 0 else min(len(self.text), cut + len(word.text) + 1)
        if cut and all(word.end_ms <= heard_ms for word in self.words) and self.whole:
            return len(self.text)  # closing marks belong to the last word
        return cut

    def _cut_by_length(self, heard_ms: int) -> int:
        """A voice that tells no times: words share its sound by their length."""
        total_ms = self.ms if self.whole else max(self.ms, len(self.text) * CHAR_MS)
        cut = 0
        for token in _TOKEN.finditer(self.text):
            end = token.end() if token.end() < len(self.text) else len(self.text)
            if end * total_ms > heard_ms * len(self.text):
                break
            cut = end
        return cut


class Ledger:
    """Everything that one reply says, in order."""

    def __init__(self) -> None:
        self._passages: list[_Passage] = []
        self.total_ms = 0
        self.heard_ms = 0
        self.chunks = 0
        self.shown = ""  # text for the screen only

    def begin(self, text: str) -> None:
        """A sentence begins; its sound follows."""
        self._passages.append(_Passage(text, self.total_ms))

    def add(self, sound: Sound) -> int:
        """A piece of sound of the current sentence. Returns its number."""
        if not self._passages or self._passages[-1].whole:
            self.begin("")  # a model that speaks by itself brings text and sound together
        passage = self._passages[-1]
        passage.text += sound.text
        passage.words += [Word(word.text, word.start_ms + passage.ms, word.end_ms + passage.ms) for word in sound.words]
        passage.ms += sound.ms
        self.total_ms += sound.ms
        self.chunks += 1
        return self.chunks

    def end(self) -> None:
        """The sentence has all its sound."""
        if self._passages:
            self._passages[-1].whole = True

    def note_heard(self, heard_ms: int) -> None:
        """The line has played this much; never more than there is, never less than before."""
        self.heard_ms = max(self.heard_ms, min(heard_ms, self.total_ms))

    @property
    def text(self) -> str:
        """Everything that is to be said."""
        return " ".join(passage.text.strip() for passage in self._passages if passage.text.strip())

    def split(self, heard_ms: int | None = None) -> Split:
        """What was heard, and what was not."""
        at = self.heard_ms if heard_ms is None else heard_ms
        parts = [passage.split(at) for passage in self._passages]
        return (
            Split(*(" ".join(side.strip() for side in sides if side.strip()) for sides in zip(*parts, strict=True)))
            if parts
            else Split("", "")
        )
