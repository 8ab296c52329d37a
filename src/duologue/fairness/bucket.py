"""A token bucket, as a value. It says how much one caller may use now, and how long the caller has to wait until it may
use more.

A `Rate` is the limit, and a `Bucket` says how much is left. Both are plain data, and the current time is passed to each
function. Rule: all arithmetic is on whole numbers, so a bucket never drifts, and a clock that goes back adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit: `amount` may be used in each period of `per_ms` milliseconds. After a time without use, up to `burst`
    may be used at once."""

    amount: int
    per_ms: int
    burst: int

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} in a rate must be above 0, not {getattr(self, name)}")

    def __str__(self) -> str:
        return f"{self.amount:,} in {self.per_ms:,} ms, up to {self.burst:,} at once"


class Bucket(NamedTuple):
    """How much is left at the time `at_ms`. It is counted in `parts`, so that no fractions are needed: one unit of the
    amount is `per_ms` parts."""

    parts: int
    at_ms: int


class Taken(NamedTuple):
    """The result of `take`. `bucket` is the bucket afterwards. `wait_ms` is 0 if the amount was taken. Otherwise
    nothing was taken, and `wait_ms` is how long to wait until the amount is available. `wait_ms` is None if the amount
    will never be available, because it is larger than the burst."""

    bucket: Bucket
    wait_ms: int | None

    @property
    def is_granted(self) -> bool:
        return self.wait_ms == 0


def full(rate: Rate, now_ms: int) -> Bucket:
    """A full bucket, for a caller that has used nothing for a while."""
    return Bucket(rate.burst * rate.per_ms, now_ms)


def refilled(rate: Rate, bucket: Bucket, now_ms: int) -> Bucket:
    """The bucket at the time `now_ms`, with what was added since its own time."""
    passed_ms = max(0, now_ms - bucket.at_ms)
    parts = min(rate.burst * rate.per_ms, bucket.parts + passed_ms * rate.amount)
    return Bucket(parts, max(now_ms, bucket.at_ms))


def take(rate: Rate, bucket: Bucket, amount: int, now_ms: int) -> Taken:
    """Use this amount, if enough is left."""
    assert amount >= 0, "an amount is 0 or more"
    parts, at_ms = bucket  # refilled here, because this is called for each message of each client
    if now_ms > at_ms:
        parts, at_ms = parts + (now_ms - at_ms) * rate.amount, now_ms
    if parts > (most := rate.burst * rate.per_ms):
        parts = most
    wanted = amount * rate.per_ms
    if wanted <= parts:
        return Taken(Bucket(parts - wanted, at_ms), 0)
    if amount > rate.burst:
        return Taken(Bucket(parts, at_ms), None)
    return Taken(Bucket(parts, at_ms), -(-(wanted - parts) // rate.amount))


def use(rate: Rate, bucket: Bucket, amount: int, now_ms: int) -> Bucket:
    """Use this amount even if less is left, because another process has already granted it. What is missing becomes a
    debt, which must be refilled before anything can be taken again. The debt is limited to one burst."""
    assert amount >= 0, "an amount is 0 or more"
    now = refilled(rate, bucket, now_ms)
    return Bucket(max(now.parts - amount * rate.per_ms, -rate.burst * rate.per_ms), now.at_ms)


def left(rate: Rate, bucket: Bucket, now_ms: int) -> int:
    """How much may be used now, in whole units."""
    return refilled(rate, bucket, now_ms).parts // rate.per_ms


def full_in_ms(rate: Rate, bucket: Bucket, now_ms: int) -> int:
    """How long it takes until this bucket is full, if nothing more is used."""
    missing = rate.burst * rate.per_ms - refilled(rate, bucket, now_ms).parts
    return -(-missing // rate.amount)


def is_full(rate: Rate, bucket: Bucket, now_ms: int) -> bool:
    """Is this bucket full? If so, it needn't be remembered, because a new bucket would be the same."""
    return refilled(rate, bucket, now_ms).parts == rate.burst * rate.per_ms
