"""The health of services, from their recent failures and their latency.

A service that fails often rests, for longer each time, and is then tried again. Rule: pure functions over values. Time
comes in, in milliseconds, and there is always a service to try.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from duologue.core.leaves import ErrorClass

LASTING = (ErrorClass.AUTH_FAILURE, ErrorClass.INVALID_ARGS)  # another attempt would fail the same way


@dataclass(frozen=True, slots=True)
class HealthRule:
    """When a service rests, and for how long. A service whose median latency is above `slow_ms` comes after those that
    are faster; None turns that off."""

    failures_max: int = 2  # as many failures within `window_ms` make a service rest
    window_ms: int = 60_000
    rest_ms: int = 15_000  # the first rest; each further rest in a row is twice as long
    rest_ms_max: int = 300_000
    slow_ms: int | None = None
    latencies_min: int = 3  # as many latencies are needed for a judgement

    def __post_init__(self) -> None:
        if min(self.failures_max, self.window_ms, self.rest_ms, self.rest_ms_max, self.latencies_min) < 1:
            raise ValueError("the numbers of a HealthRule must be above 0")


@dataclass(frozen=True, slots=True)
class ServiceHealth:
    """What is known about one service."""

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
    """After a success. `latency_ms` is the time to its first part."""
    latencies = health.latencies_ms if latency_ms is None else (*health.latencies_ms, latency_ms)[-LATENCIES_KEPT:]
    return ServiceHealth(latencies_ms=latencies)


def failed(rule: HealthRule, health: ServiceHealth, error: ErrorClass, at: int) -> ServiceHealth:
    """After a failure."""
    recent = (*(one for one in health.failed_at if at - one < rule.window_ms), at)
    if len(recent) < rule.failures_max and error not in LASTING and not health.rests:
        return replace(health, failed_at=recent)
    rest_ms = min(rule.rest_ms * 2**health.rests, rule.rest_ms_max)
    return ServiceHealth((), min(health.rests + 1, 16), at + rest_ms)


def order(rule: HealthRule, known: Sequence[ServiceHealth], at: int) -> tuple[int, ...]:
    """The services in the order in which to try them: healthy ones as they were given, then slow ones, then those that
    rest, the first to be ready first."""

    def rank(index: int) -> tuple[int, int, int]:
        health = known[index]
        if health.is_resting(at):
            return 2, health.rests_until, index
        return int(health.is_slow(rule)), 0, index

    return tuple(sorted(range(len(known)), key=rank))
