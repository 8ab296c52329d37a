"""The health of services, from their recent failures and their latency.

A service that fails often rests: for a while, it is tried only after all other services. If it fails again after a
rest, the next rest is longer. Rule: all functions are pure, and the time is an argument, in milliseconds. No service is
ever excluded completely, so there is always one to try.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from duologue.core.leaves import ErrorClass

LASTING = (ErrorClass.AUTH_FAILURE, ErrorClass.INVALID_ARGS)  # another attempt would fail the same way


@dataclass(frozen=True, slots=True)
class HealthRule:
    """The rule that says when a service rests, and for how long. A service whose median latency is above `slow_ms` is
    tried only after faster services; None turns this off."""

    failures_max: int = 2  # a service rests after this many failures within `window_ms`
    window_ms: int = 60_000
    rest_ms: int = 15_000  # the first rest; each further rest in a row is twice as long
    rest_ms_max: int = 300_000
    slow_ms: int | None = None
    latencies_min: int = 3  # how many latencies must be known before a service can count as slow

    def __post_init__(self) -> None:
        if min(self.failures_max, self.window_ms, self.rest_ms, self.rest_ms_max, self.latencies_min) < 1:
            raise ValueError("all numbers in a HealthRule must be above 0")


@dataclass(frozen=True, slots=True)
class ServiceHealth:
    """What is known about the health of one service."""

    failed_at: tuple[int, ...] = ()
    rests: int = 0  # in a row
    rests_until: int = 0
    latencies_ms: tuple[int, ...] = ()

    def is_resting(self, at: int) -> bool:
        return at < self.rests_until

    def is_slow(self, rule: HealthRule) -> bool:
        known = sorted(self.latencies_ms)
        return rule.slow_ms is not None and len(known) >= rule.latencies_min and known[len(known) // 2] > rule.slow_ms


LATENCIES_KEPT = 5


def worked(health: ServiceHealth, latency_ms: int | None = None) -> ServiceHealth:
    """The health of a service after a success. `latency_ms` is the time to the first part."""
    latencies = health.latencies_ms if latency_ms is None else (*health.latencies_ms, latency_ms)[-LATENCIES_KEPT:]
    return ServiceHealth(latencies_ms=latencies)


def failed(rule: HealthRule, health: ServiceHealth, error: ErrorClass, at: int) -> ServiceHealth:
    """The health of a service after a failure."""
    recent = (*(one for one in health.failed_at if at - one < rule.window_ms), at)
    if len(recent) < rule.failures_max and error not in LASTING and not health.rests:
        return replace(health, failed_at=recent)
    rest_ms = min(rule.rest_ms * 2**health.rests, rule.rest_ms_max)
    return ServiceHealth((), min(health.rests + 1, 16), at + rest_ms)


def order(rule: HealthRule, known: Sequence[ServiceHealth], at: int) -> tuple[int, ...]:
    """The indices of the services, in the order in which to try them. Healthy services come first, in the given order,
    then slow services, then resting services. Among the resting services, the one whose rest ends first comes first."""

    def rank(index: int) -> tuple[int, int, int]:
        health = known[index]
        if health.is_resting(at):
            return 2, health.rests_until, index
        return int(health.is_slow(rule)), 0, index

    return tuple(sorted(range(len(known)), key=rank))
