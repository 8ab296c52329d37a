"""Cuts streamed text into sentences, and returns each sentence as soon as it is complete.

Handles abbreviations, initials, numbers, numbered lists and blocks of code. Rule: no character is lost or added, except
for spaces between sentences.
"""

from __future__ import annotations

import re

from duologue.spoken.abbreviations import Abbreviations, abbreviations
from duologue.spoken.speech_tags import END_TAG, UNFINISHED_TAG, bare, is_in_tag, without_spaces_in_tags

from .opening import opening_length

_END = re.compile(
    rf"[.!?…]+(?:[\"'”’“»)\]*_~]|{END_TAG})*(?=\s)|[。！？]+(?:[」』）]|{END_TAG})*|\n+"  # noqa: RUF001 - several scripts
)
_END_TAG = re.compile(END_TAG)
_MAY_END = re.compile(rf"[.!?…。！？]+(?:[\"'”’“»)\]*_~」』）]|{END_TAG})*{UNFINISHED_TAG}?$")  # noqa: RUF001 - several scripts
_LIST_MARK = re.compile(r"(?:^|\n)\s*(?:\d{1,3}|[a-zA-Z])$")
_INITIAL = re.compile(r"(?:^|\s|\.)[^\W\d_]$")
_NUMBER = re.compile(r"(?:^|\s)[\d.]{1,6}$")
_FENCES = ("```", "~~~")
_LOOK_BACK = 60  # how many characters before a full stop decide whether it ends a sentence
CHARS_MAX = 400  # a longer sentence is cut at a comma or a space, so that the voice can start
CODE_CHARS_MAX = 20_000  # a block of code is one sentence up to this length


class Sentences:
    """Takes text as it arrives and returns whole sentences. `language` is a code such as "de". It decides which words
    are abbreviations."""

    def __init__(self, language: str = "en") -> None:
        self._known = abbreviations(language)
        self._text = ""
        self._searched = 0  # no sentence ends before this position

    def feed(self, text: str) -> list[str]:
        """Add text, and return the sentences that are now complete. Long text is processed in pieces, so that finding a
        sentence never takes long."""
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

    @property
    def unfinished(self) -> str:
        """The text after the last complete sentence, as it arrived."""
        return self._text

    def opening(self, joins_words: bool) -> str:
        """Return and remove the beginning of an unfinished sentence, so that the voice can start early: the first
        clause or, if `joins_words` is true, the first words. Empty if there isn't enough text."""
        cut = 0 if self._is_in_code(len(self._text)) else opening_length(self._text, self._known, joins_words)
        words, self._text = self._text[:cut].strip(), self._text[cut:]
        self._searched = 0 if cut else self._searched
        return words

    def whole_words(self) -> str:
        """Return and remove the complete words of an unfinished sentence. Used when the stream is so slow that the
        voice can't wait for the end of the sentence."""
        cut = without_spaces_in_tags(self._text).rfind(" ") + 1
        words, self._text, self._searched = self._text[:cut].strip(), self._text[cut:], 0
        return words

    def rest(self) -> str:
        """Return and remove the text after the last complete sentence. Call this at the end of the stream."""
        rest, self._text, self._searched = self._text.strip(), "", 0
        return rest

    def _find_end(self) -> int | None:
        chars_max = CODE_CHARS_MAX if self._is_in_code(min(CHARS_MAX, len(self._text))) else CHARS_MAX
        for match in _END.finditer(self._text, self._searched):
            if match.end() > chars_max:
                break
            is_end = self._is_end(match)
            if is_end:
                return match.end()
            if is_end is None and len(self._text) <= chars_max:  # the next word decides
                self._searched = match.start()
                return None
        ending = _MAY_END.search(self._text) if "<" in self._text else None
        self._searched = min(max(0, len(self._text) - 8), ending.start() if ending else len(self._text))
        return self._cut_long_sentence() if len(self._text) > chars_max else None

    def _is_in_code(self, place: int) -> bool:
        """Is this position in the text inside a block of code?"""
        text = self._text
        if "```" not in text and "~~~" not in text:
            return False
        return any(text.count(fence, 0, place) % 2 == 1 for fence in _FENCES)

    def _is_end(self, match: re.Match[str]) -> bool | None:
        """Does a sentence end at this punctuation mark? None if that depends on text that hasn't arrived yet."""
        mark = _END_TAG.sub("", match.group())
        if is_in_tag(self._text[max(0, match.start() - _LOOK_BACK) : match.start()]):
            return False
        if not self._text[: match.start()].strip():
            return not mark.strip()  # blank lines before the text are removed, but not punctuation
        if self._is_in_code(match.end()):
            return False
        after = bare(self._text[match.end() : match.end() + _LOOK_BACK]).lstrip()
        if mark != ".":
            return self._ends_quote(mark, after)
        before = self._text[max(0, match.start() - _LOOK_BACK) : match.start()]
        is_start = match.start() <= _LOOK_BACK
        return _is_stop(bare(before) if is_start else f"x{bare(before)}", after, self._known)

    def _ends_quote(self, mark: str, after: str) -> bool | None:
        """Does a sentence end at this punctuation mark, which may include a closing quotation mark? False if the
        sentence continues after the quotation: `"Really?" she asked.` None if that depends on text that hasn't arrived
        yet."""
        if mark[-1] not in "\"'”’“»" or not mark[0].strip():  # noqa: RUF001 - quotation marks
            return True
        return not after[0].islower() if after else None

    def _cut_long_sentence(self) -> int:
        text = without_spaces_in_tags(self._text)
        for mark in (", ", "; ", ": ", " "):
            cut = text.rfind(mark, 0, CHARS_MAX)
            if cut > 0:
                return cut + len(mark)
        return CHARS_MAX


def _is_stop(before: str, after: str, known: Abbreviations) -> bool | None:
    """Does a full stop between the texts `before` and `after` end a sentence? False if the full stop belongs to an
    abbreviation, an initial, an ordinal or a list number. None if that depends on text that hasn't arrived yet."""
    if _LIST_MARK.search(before):
        return False
    words = before.split()
    for count in (3, 2, 1):
        written = "".join(words[-count:]).lstrip("(\"'“„¿¡*_") + "."
        if written in known.numbered_keys and (not after or after[0].isdigit()):
            return False if after else None
        if written in known.either_keys or (known.months and written.endswith("str.")):  # a German street
            return None if not after else not (after[0].islower() or after[0].isdigit() or after[0] in ",;:)-–")  # noqa: RUF001
        if written in known.inner_keys:
            return False
    if known.months and _NUMBER.search(before):
        return _is_number_stop(words, after, known)
    return not _INITIAL.search(before)


def _is_number_stop(words: list[str], after: str, known: Abbreviations) -> bool | None:
    """Does a full stop after a number end a sentence? Used for languages that write ordinals with a full stop ("am 3.
    Mai"). None if that depends on text that hasn't arrived yet."""
    if len(words) > 1 and words[-2].lower() in known.articles:
        return False
    if not after:
        return None
    if after[0].islower():
        return False
    word, *more = after.split(maxsplit=1)
    name = word.rstrip(".,;:!?")
    if name in known.months:
        return False
    is_whole = bool(more) or name != word
    return True if is_whole or not any(month.startswith(name) for month in known.months) else None
