"""The numbers of listed pools: those of one name are added, and a closed pool isn't listed any more."""

from __future__ import annotations

from dataclasses import dataclass

from duologue.fairness.counted_pools import PoolCounts, all_counts, hide, show
from duologue.fairness.fair_threads import TOOLS


@dataclass(eq=False)
class FixedPool:
    """A pool with these numbers."""

    name: str
    counts: PoolCounts


def test_pools_of_the_same_name_are_added_until_they_are_hidden() -> None:
    one = FixedPool("of this test", PoolCounts(1, 2, 3, 4))
    other = FixedPool("of this test", PoolCounts(10, 20, 30, 40))
    show(one, other)
    show(one)
    assert all_counts()["of this test"] == PoolCounts(11, 22, 33, 44)
    hide(one)
    assert all_counts()["of this test"] == other.counts
    hide(other)
    assert "of this test" not in all_counts()


def test_the_pools_of_threads_are_listed() -> None:
    assert all_counts()[TOOLS.name] == TOOLS.counts
