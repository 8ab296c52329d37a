"""Cuts streamed text into sentences, and returns each sentence as soon as it is complete.

Handles abbreviations, initials, numbers and numbered lists. Rule: no character is lost or added, except the space
between sentences.
"""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e cf vol dept approx inc ltd corp ave blvd"
    " jan feb apr aug sept oct nov dec".split()
)
_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[」』）]*|\n+")  # noqa: RUF001 - several scripts
_LIST_MARK = re.compile(r"(?:^|\n)\s*(?:\d{1,3}|[a-zA-Z])$")
_INITIAL = re.compile(r"(?:^|\s|\.)[A-Z]$")
CHARS_MAX = 400  # a longer sentence is cut at a comma or a space, so that the voice can start


class Sentences:
    """Takes text as it streams and returns whole sentences."""

    def __init__(self) -> None:
        self._text = ""
        self._searched = 0  # no sentence ends before this position

    def feed(self, text: str) -> list[str]:
        """Add text, and return the sentences that are now complete. Long text is processed in pieces, so that the time
        to find a sentence is bounded."""
        pieces = (text[at : at + CHARS_MAX] for at in range(0, len(text), CHARS_MAX))
        return [sentence for piece in pieces for sentence in self._take(piece)]

    def _take(self, text: str) -> list[str]:
        self._text += text
        found = []
        while (cut := self._find_end()) is not None:
            sentence, self._text = self._text[:cut].strip(), self._text[cut:]
            self._searched = 0
            if sentence:
                found.append(sentence)
        return found

    def whole_words(self) -> str:
        """Return and remove the whole words of an unfinished sentence, for a stream that is too slow to wait for its
        end."""
        cut = self._text.rfind(" ") + 1
        words, self._text, self._searched = self._text[:cut].strip(), self._text[cut:], 0
        return words

    def rest(self) -> str:
        """Return and remove the text after the last complete sentence. Call this at the end of the stream."""
        rest, self._text, self._searched = self._text.strip(), "", 0
        return rest

    def _find_end(self) -> int | None:
        for match in _END.finditer(self._text, self._searched):
            if match.end() > CHARS_MAX:
                break
            if self._is_end(match):
                return match.end()
        self._searched = max(0, len(self._text) - 8)
        return self._cut_long_sentence() if len(self._text) > CHARS_MAX else None

    def _is_end(self, match: re.Match[str]) -> bool:
        """Does this mark end a sentence? False for the full stop of an abbreviation, an initial or a list number."""
        mark = match.group()
        if not self._text[: match.start()].strip():
            return not mark.strip()  # blank lines before the text are removed, but not punctuation
        if mark != ".":
            return True
        before = self._text[: match.start()]
        word = before.split()[-1].lower().lstrip("(\"'“")
        return not (word in _ABBREVIATIONS or _INITIAL.search(before) or _LIST_MARK.search(before))

    def _cut_long_sentence(self) -> int:
        for mark in (", ", "; ", ": ", " "):
            cut = self._text.rfind(mark, 0, CHARS_MAX)
            if cut > 0:
                return cut + len(mark)
        return CHARS_MAX
