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
