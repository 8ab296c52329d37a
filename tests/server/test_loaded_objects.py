"""What a server has loaded isn't visited by the garbage collector; what conversations leave behind still is."""

from __future__ import annotations

import gc
import weakref

from duologue.server.loaded_objects import loaded_objects_ignored


class Node:
    """An object that refers to itself, so that only the garbage collector can free it."""

    def __init__(self) -> None:
        self.own = self


def test_a_collection_visits_only_objects_that_were_made_after_loading() -> None:
    loaded = Node()
    with loaded_objects_ignored():
        served = Node()
        tracked = {id(one) for one in gc.get_objects()}
        assert id(loaded) not in tracked
        assert id(served) in tracked
    assert id(loaded) in {id(one) for one in gc.get_objects()}


def test_garbage_that_a_conversation_leaves_is_still_freed() -> None:
    with loaded_objects_ignored():
        left = weakref.ref(Node())
        gc.collect()
        assert left() is None


def test_garbage_from_loading_is_freed_first() -> None:
    left = weakref.ref(Node())
    with loaded_objects_ignored():
        assert left() is None
