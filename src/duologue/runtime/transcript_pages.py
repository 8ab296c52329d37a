"""Divides a transcript into pages, so that after a change in a long conversation, only the changed pages are written
again.

A page holds PAGE items of the history and the words of PAGE turns. Rule: all pages and the rest of the transcript
together are exactly what `Transcript.dump` returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PAGE = 64  # places of the history, and turns, in one page
_LISTS = ("items", "turns", "replies", "said")
_OLD_LISTS = ("texts", "confidence", "overheard", "requested", "known")  # of earlier versions


class TranscriptPages:
    """The numbers of all pages, and which of them have changed since the last call of `take`."""

    def __init__(self) -> None:
        self._all: set[int] = set()
        self._changed: dict[int, None] = {}

    def touch(self, number: int) -> None:
        """Mark one page as changed. It is the page that holds the item with this index in the history, or the turn with
        this number."""
        page = number // PAGE
        self._all.add(page)
        self._changed[page] = None

    def touch_all(self) -> None:
        self._changed = dict.fromkeys(self.all)

    def set_written(self, numbers: Iterable[int]) -> None:
        """Record that the pages of these items and turns, and no other pages, are stored. All of them count as
        unchanged."""
        self._all = {number // PAGE for number in numbers}
        self._changed = {}

    def take(self) -> tuple[int, ...]:
        """Return the numbers of the changed pages. From now on, these pages count as unchanged."""
        taken = tuple(self._changed)
        self._changed = {}
        return taken

    @property
    def all(self) -> list[int]:
        return sorted(self._all)


def page_name(part: str, page: int) -> str:
    """The name under which a page of this part is stored."""
    return f"{part}.{page}"


def join_pages(rest: Mapping[str, Any], pages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the pages of a transcript and `rest`, the data that isn't in any page, to the data of the whole
    transcript."""
    is_old = any("texts" in page for page in pages)
    lists = (*_LISTS[:3], *_OLD_LISTS) if is_old else _LISTS
    return {**rest, **{name: [entry for page in pages for entry in page[name]] for name in lists}}
