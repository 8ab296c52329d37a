"""Cutting streamed text into sentences, each handed on as soon as it is complete.

Knows abbreviations, initials, numbers and numbered lists. Rule: nothing is lost or added; the
sentences and the rest, joined, are the text but for the space between them.
"""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e cf vol dept approx inc ltd corp ave blvd"
    " jan feb apr aug sept oct nov dec".split()
)
_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？]+[」』）]*|\n+")  # noqa: RUF001 - text comes in many scripts
_LIST_MARK = re.compile(r"(?:^|\n)\s*(?:\d{1,3}|[a-zA-Z])$")
_INITIAL = re.compile(r"(?:^|\s|\.)[A-Z]$")
CHARS_MAX = 400  # a sentence that is longer is cut at a comma or a space: a voice must begin at some time


class Sentences:
    """Takes text as it streams and gives whole sentences."""

    def __init__(self) -> None:
        self._text = ""
        self._searched = 0  # before this place there is no end

    def feed(self, text: str) -> list[str]:
        """The sentences that this piece of text completed. However long it is, it is read as if it came in pieces:
        nobody is to wait while a whole book is looked through for its first sentence."""
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

    def rest(self) -> str:
        """What is left when the text is over."""
        rest, self._text, self._searched = self._text.strip(), "", 0
        return rest

    def _find_end(self) -> int | None:
        for match in _END.finditer(self._text, self._searched):
            if match.end() > CHARS_MAX:
                break
            if self._is_end(match):
                return match.end()
        self._searched = max(0, len(self._text) - 8)
        return self._cut_of_a_long_one() if len(self._text) > CHARS_MAX else None

    def _is_end(self, match: re.Match[str]) -> bool:
        """A full stop may belong to an abbreviation, an initial or the number of a list."""
        mark = match.group()
        if not self._text[: match.start()].strip():
            return not mark.strip()  # blank lines before the text are cut off, a lone mark is not
        if mark != ".":
            return True
        before = self._text[: match.start()]
        word = before.split()[-1].lower().lstrip("(\"'“")
        return not (word in _ABBREVIATIONS or _INITIAL.search(before) or _LIST_MARK.search(before))

    def _cut_of_a_long_one(self) -> int:
        for mark in (", ", "; ", ": ", " "):
            cut = self._text.rfind(mark, 0, CHARS_MAX)
            if cut > 0:
                return cut + len(mark)
        return CHARS_MAX
