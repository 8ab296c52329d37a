"""A list that keeps only its newest items. Each conversation has several of these, and most stay empty: an empty list
takes a tenth of the memory of an empty deque.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


class Newest(list[T]):
    """At most `most` items. Add items only with `append` and `extend`: then the oldest are dropped."""

    __slots__ = ("_most",)

    def __init__(self, most: int, items: Iterable[T] = ()) -> None:
        super().__init__()
        self._most = most
        self.extend(items)

    def append(self, item: T) -> None:
        super().append(item)
        self._drop_oldest()

    def extend(self, items: Iterable[T]) -> None:
        super().extend(items)
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        if len(self) > self._most:
            del self[: len(self) - self._most]
