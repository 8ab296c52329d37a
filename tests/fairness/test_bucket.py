"""A bucket is a value: what it grants, when it grants more, and that it never drifts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.fairness.bucket import Bucket, Rate, full, full_in_ms, is_full, left, take, use

SOUND = Rate(1_200, 1_000, 5_000)  # 1.2 times real time, five seconds at once


def test_a_burst_is_granted_at_once_and_no_more() -> None:
    bucket, wait_ms = take(SOUND, full(SOUND, 0), 5_000, 0)
    assert wait_ms == 0
    assert take(SOUND, bucket, 20, 0).wait_ms == 17  # 20 ms of sound at 1.2 times real time


def test_what_is_refused_takes_nothing() -> None:
    bucket = take(SOUND, full(SOUND, 0), 5_000, 0).bucket
    refused = take(SOUND, bucket, 20, 10)
    assert not refused.is_granted
    assert left(SOUND, refused.bucket, 10) == 12
    assert take(SOUND, refused.bucket, 12, 10).is_granted


def test_an_amount_above_the_burst_is_never_granted() -> None:
    assert take(SOUND, full(SOUND, 0), 5_001, 0).wait_ms is None


def test_a_bucket_fills_up_to_its_burst() -> None:
    empty = take(SOUND, full(SOUND, 0), 5_000, 0).bucket
    assert not is_full(SOUND, empty, 4_166)
    assert is_full(SOUND, empty, 4_167)
    assert left(SOUND, empty, 1_000_000) == 5_000


def test_a_bucket_says_when_it_will_be_full() -> None:
    bucket, _ = take(SOUND, full(SOUND, 0), 1_201, 0)
    wait_ms = full_in_ms(SOUND, bucket, 400)
    assert wait_ms == 601
    assert not is_full(SOUND, bucket, 400 + wait_ms - 1)
    assert is_full(SOUND, bucket, 400 + wait_ms)
    assert full_in_ms(SOUND, bucket, 5_000) == 0


def test_a_clock_that_goes_back_adds_nothing() -> None:
    bucket = take(SOUND, full(SOUND, 1_000), 5_000, 1_000).bucket
    back = take(SOUND, bucket, 20, 0).bucket
    assert left(SOUND, back, 1_000) == 0
    assert back.at_ms == 1_000


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="burst in a rate must be above 0"):
        Rate(1, 1, 0)


@given(
    st.builds(Rate, st.integers(1, 5_000), st.integers(1, 5_000), st.integers(1, 5_000)),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 600)), max_size=60),
)
def test_never_more_is_granted_than_the_burst_and_the_rate_allow(rate: Rate, uses: list[tuple[int, int]]) -> None:
    bucket, now, granted = full(rate, 0), 0, 0
    for pause_ms, amount in uses:
        now += pause_ms
        bucket, wait_ms = take(rate, bucket, amount, now)
        if wait_ms == 0:
            granted += amount
        elif wait_ms is not None:
            assert take(rate, bucket, amount, now + wait_ms).is_granted
            assert not take(rate, bucket, amount, now + wait_ms - 1).is_granted
        assert isinstance(bucket, Bucket)
        assert granted * rate.per_ms <= rate.burst * rate.per_ms + now * rate.amount


def test_what_was_granted_elsewhere_may_leave_a_debt_of_at_most_one_burst() -> None:
    assert use(SOUND, full(SOUND, 0), 1_000, 0) == take(SOUND, full(SOUND, 0), 1_000, 0).bucket
    owing = use(SOUND, full(SOUND, 0), 5_012, 0)
    assert take(SOUND, owing, 12, 0).wait_ms == 20, "12 ms of sound to refill the debt, and 12 to grant"
    deep = use(SOUND, owing, 1_000_000, 0)
    assert deep == use(SOUND, deep, 1, 0)
    assert take(SOUND, deep, 1_200, 5_167).is_granted
