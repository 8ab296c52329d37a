"""Pages of a transcript, so that a long conversation isn't written as a whole with every change.

A page holds PAGE places of the history and PAGE turns. Only changed pages are written again. Rule: the pages and the
rest of the transcript together are exactly what `Transcript.dump` returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PAGE = 64  # places of the history, and turns, in one page
_LISTS = ("items", "turns", "replies", "said")
_OLD_LISTS = ("texts", "confidence", "overheard", "requested", "known")  # of earlier versions


class TranscriptPages:
    """The numbers of all pages, and of the pages that have changed since the last `take`."""

    def __init__(self) -> None:
        self._all: set[int] = set()
        self._changed: dict[int, None] = {}

    def touch(self, number: int) -> None:
        """Mark the page of this place or turn as changed."""
        page = number // PAGE
        self._all.add(page)
        self._changed[page] = None

    def touch_all(self) -> None:
        self._changed = dict.fromkeys(self.all)

    def set_written(self, numbers: Iterable[int]) -> None:
        """Set which places and turns exist. All their pages count as written."""
        self._all = {number // PAGE for number in numbers}
        self._changed = {}

    def take(self) -> tuple[int, ...]:
        """Return the numbers of the changed pages, and count these pages as written from now on."""
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
    """The whole transcript: `rest`, and each list joined from all pages."""
    is_old = any("texts" in page for page in pages)
    lists = (*_LISTS[:3], *_OLD_LISTS) if is_old else _LISTS
    return {**rest, **{name: [entry for page in pages for entry in page[name]] for name in lists}}
