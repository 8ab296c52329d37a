"""The queue is fair by owner: who waits longest for least is next, and an owner's own order is kept."""

from __future__ import annotations

import pytest

from duologue.fairness.fair_queue import FairQueue, QueueFull, Shares


def queue(places: int = 8, each_max: int = 2, waiting_max: int = 100) -> FairQueue[str]:
    return FairQueue(Shares(places, each_max, waiting_max))


def drained(q: FairQueue[str]) -> list[str]:
    taken = []
    while (one := q.take()) is not None:
        taken.append(one[1])
        q.done(one[0])
    return taken


def test_the_work_of_a_quiet_owner_doesnt_wait_behind_that_of_a_greedy_one() -> None:
    q = queue()
    for number in range(4):
        q.put("greedy", f"g{number}")
    q.put("honest", "h0")
    q.put("honest", "h1")
    assert drained(q) == ["g0", "h0", "g1", "h1", "g2", "g3"]


def test_an_owner_has_at_most_its_share_of_the_places() -> None:
    q = queue(places=8, each_max=2)
    for number in range(4):
        q.put("greedy", f"g{number}")
    assert [q.take(), q.take(), q.take()] == [("greedy", "g0"), ("greedy", "g1"), None]
    q.put("honest", "h0")
    assert q.take() == ("honest", "h0")
    q.done("greedy")
    assert q.take() == ("greedy", "g2")


def test_while_most_places_are_taken_each_owner_has_one() -> None:
    q = queue(places=4, each_max=2)
    for owner in ("a", "b"):
        q.put(owner, owner)
        q.put(owner, owner)
    assert [q.take() and 1 for _ in range(4)] == [1, 1, 1, None]  # a, b, a; then more than half is taken
    q.put("c", "c")
    assert q.take() == ("c", "c")
    assert q.running == 4
    q.put("d", "d")
    assert q.take() is None


def test_too_much_waiting_work_of_one_owner_is_refused_with_words() -> None:
    q = queue(waiting_max=2)
    q.put("greedy", "1")
    q.put("greedy", "2")
    with pytest.raises(QueueFull, match=r"too much work waiting \(limit: 2\)"):
        q.put("greedy", "3")
    q.put("honest", "1")
    assert q.waiting == 3


def test_dropped_work_is_never_taken() -> None:
    q = queue()
    q.put("a", "1")
    q.put("a", "2")
    assert q.drop("a", "1")
    assert not q.drop("a", "1")
    assert not q.drop("b", "1")
    assert drained(q) == ["2"]
    q.put("a", "3")
    assert q.clear() == ["3"]
    assert (q.waiting, q.running) == (0, 0)
