"""Health by recent failures and latency."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.core.leaves import ErrorClass
from duologue.failover.health import HealthRule, ServiceHealth, failed, order, worked

RULE = HealthRule()
DOWN = ErrorClass.SERVER_ERROR


def test_one_failure_is_forgiven_and_two_within_a_minute_are_not() -> None:
    once = failed(RULE, ServiceHealth(), DOWN, 1_000)
    assert not once.is_resting(1_001)
    assert failed(RULE, once, DOWN, 30_000).is_resting(30_001)
    assert not failed(RULE, once, DOWN, 90_000).is_resting(90_001), "the first failure is too old"


@pytest.mark.parametrize("error", [ErrorClass.AUTH_FAILURE, ErrorClass.INVALID_ARGS])
def test_a_failure_that_would_repeat_makes_it_rest_at_once(error: ErrorClass) -> None:
    assert failed(RULE, ServiceHealth(), error, 0).is_resting(1)


def test_each_rest_in_a_row_is_longer_up_to_a_limit_and_a_success_ends_that() -> None:
    health, at, rests = ServiceHealth(), 0, list[int]()
    for _ in range(8):
        health = failed(RULE, health, ErrorClass.AUTH_FAILURE, at)
        rests.append(health.rests_until - at)
        at = health.rests_until
    assert rests[:3] == [15_000, 30_000, 60_000]
    assert rests[-1] == RULE.rest_ms_max
    assert failed(RULE, worked(health), ErrorClass.AUTH_FAILURE, at).rests_until == at + 15_000


def test_a_service_that_fails_in_its_trial_rests_again_at_once() -> None:
    rested = failed(RULE, ServiceHealth(), ErrorClass.AUTH_FAILURE, 0)
    assert failed(RULE, rested, DOWN, 15_000).is_resting(15_001)


def test_the_order_is_healthy_then_slow_then_resting() -> None:
    rule = HealthRule(slow_ms=500)
    slow = ServiceHealth(latencies_ms=(900, 100, 800))
    resting = ServiceHealth(rests=1, rests_until=100)
    assert order(rule, [resting, slow, ServiceHealth()], 50) == (2, 1, 0)
    assert order(rule, [resting, slow, ServiceHealth()], 100) == (0, 2, 1)
    assert order(RULE, [ServiceHealth(), slow], 0) == (0, 1), "without slow_ms, latency doesn't count"


def test_one_slow_answer_is_not_slow() -> None:
    rule = HealthRule(slow_ms=500)
    assert not ServiceHealth(latencies_ms=(9_000,)).is_slow(rule)
    assert not ServiceHealth(latencies_ms=(9_000, 100, 100)).is_slow(rule)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(ErrorClass), st.integers(1, 90_000)), max_size=30))
def test_there_is_always_a_service_to_try(story: list[tuple[int, ErrorClass, int]]) -> None:
    known, at = [ServiceHealth()] * 3, 0
    for index, error, later_ms in story:
        at += later_ms
        known[index] = failed(RULE, known[index], error, at)
    assert sorted(order(RULE, known, at)) == [0, 1, 2]


def test_a_rule_without_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        HealthRule(failures_max=0)
