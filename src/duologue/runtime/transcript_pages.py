"""What was said, in pages: a long call is not written anew with every word.

A page holds so many places of the history and as many turns. Most pages change no more; those that do are written
again. Rule: the pages and the rest together are what a transcript dumps, neither more nor less.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PAGE = 64  # places, and turns
_LISTS = ("items", "turns", "replies", "texts", "confidence", "overheard", "requested", "known")


class TranscriptPages:
    """Which pages there are, and which have changed since they were last asked for."""

    def __init__(self) -> None:
        self._all: set[int] = set()
        self._changed: dict[int, None] = {}

    def touch(self, number: int) -> None:
        """Something changed at this place, or in this turn."""
        page = number // PAGE
        self._all.add(page)
        self._changed[page] = None

    def touch_all(self) -> None:
        self._changed = dict.fromkeys(self.all)

    def know(self, numbers: Iterable[int]) -> None:
        """There are these places and turns; they are written already."""
        self._all = {number // PAGE for number in numbers}
        self._changed = {}

    def take(self) -> tuple[int, ...]:
        """Those that changed; from now on they count as written."""
        taken = tuple(self._changed)
        self._changed = {}
        return taken

    @property
    def all(self) -> list[int]:
        return sorted(self._all)


def name_of(part: str, page: int) -> str:
    """What a page is kept as, beside the part that it belongs to."""
    return f"{part}.{page}"


def bound(rest: Mapping[str, Any], pages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The whole transcript."""
    return {**rest, **{name: [entry for page in pages for entry in page[name]] for name in _LISTS}}
