"""A list that keeps only its newest items."""

from __future__ import annotations

import sys
from collections import deque

from duologue.observe.newest import Newest


def test_the_oldest_items_are_dropped() -> None:
    newest = Newest(3, [1, 2])
    newest.append(3)
    assert newest == [1, 2, 3]
    newest.append(4)
    assert newest == [2, 3, 4]
    newest.extend(range(5, 10))
    assert newest == [7, 8, 9]
    assert Newest(2, "abc") == ["b", "c"]


def test_an_empty_one_takes_little_memory() -> None:
    assert sys.getsizeof(Newest[int](20)) < sys.getsizeof(deque[int](maxlen=20)) / 5
