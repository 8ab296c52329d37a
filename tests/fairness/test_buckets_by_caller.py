"""Each caller has a bucket of its own, and the number of remembered buckets is limited."""

from __future__ import annotations

from duologue.fairness.bucket import Rate
from duologue.fairness.buckets_by_caller import BucketsByCaller

STARTS = Rate(1, 1_000, 3)


def test_one_caller_uses_nothing_of_another_ones_bucket() -> None:
    buckets = BucketsByCaller(STARTS)
    assert [buckets.take("greedy", 1, 0) for _ in range(5)] == [0, 0, 0, 1_000, 1_000]
    assert buckets.take("honest", 1, 0) == 0


def test_full_buckets_are_forgotten_first() -> None:
    buckets = BucketsByCaller(STARTS, callers_max=10)
    buckets.take("greedy", 3, 0)
    for caller in range(10):
        buckets.take(str(caller), 1, 0)
    assert len(buckets) == 9
    assert buckets.take("greedy", 1, 0) == 1_000  # an empty bucket isn't forgotten
    for caller in range(10):
        buckets.take(str(caller), 1, 3_000)
    assert len(buckets) <= 10


def test_many_callers_never_need_more_memory_than_the_limit() -> None:
    buckets = BucketsByCaller(STARTS, callers_max=100)
    for caller in range(10_000):
        buckets.take(str(caller), 2, 0)
        assert len(buckets) <= 100


# -- Several processes


def test_what_another_process_has_granted_is_used_here_too_and_may_become_a_debt() -> None:
    buckets = BucketsByCaller(STARTS)
    for _ in range(2):
        buckets.use("greedy", 1, 0)
    assert [buckets.take("greedy", 1, 0) for _ in range(2)] == [0, 1_000]
    buckets.use("greedy", 1, 0)
    assert buckets.take("greedy", 1, 0) == 2_000
    buckets.use("greedy", 100, 0)
    assert buckets.take("greedy", 1, 0) == 4_000, "the debt is at most one burst"
    assert buckets.take("greedy", 1, 4_000) == 0


def test_a_level_from_another_process_can_only_lower_the_own_one() -> None:
    first, second = BucketsByCaller(STARTS), BucketsByCaller(STARTS)
    first.take("greedy", 3, 0)
    first.take("seldom", 1, 0)
    second.take("seldom", 2, 0)
    assert first.levels(0) == {"greedy": 0, "seldom": 2_000}
    for _ in range(2):
        for caller, parts in first.levels(0).items():
            second.lower(caller, parts, 0)
    assert second.levels(0) == {"greedy": 0, "seldom": 1_000}
    assert first.levels(1_000) == {"greedy": 1_000}, "full buckets aren't listed"


def test_what_other_processes_grant_never_needs_more_memory_than_the_limit() -> None:
    buckets = BucketsByCaller(STARTS, callers_max=100)
    for caller in range(1_000):
        buckets.use(str(caller), 2, 0)
        buckets.lower(f"other {caller}", 0, 0)
        assert len(buckets) <= 100
