"""Ids of typed messages are remembered as long as they can come again."""

from __future__ import annotations

from duologue.server.typed_ids import KEEP_MS, TypedIds


def test_an_id_without_confirmation_is_remembered_however_many_follow() -> None:
    ids = TypedIds()
    ids.add("first", 0)
    for number in range(1_000):
        ids.add(str(number), number * 1_000)
        ids.confirm(str(number), number * 1_000)
    assert "first" in ids


def test_a_confirmed_id_is_forgotten_once_it_cant_come_again() -> None:
    ids = TypedIds()
    ids.add("a", 0)
    ids.confirm("a", 1_000)
    ids.add("b", KEEP_MS + 1_000)
    assert "a" in ids
    ids.add("c", KEEP_MS + 1_001)
    assert "a" not in ids
    assert ids.dump() == ["b", "c"]


def test_the_ids_of_an_earlier_process_are_known() -> None:
    ids = TypedIds(["a", "b"], now_ms=5)
    assert "a" in ids
    ids.add("c", KEEP_MS + 6)
    assert ids.dump() == ["c"]
    ids.confirm("unknown", 0)
    assert len(ids) == 1
