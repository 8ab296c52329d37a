"""Decides whether and when a client connects again after a lost connection. The functions are pure.

Rule: some close codes mean that a person or another ticket is needed. These are refusals, after which the client
doesn't connect again. After every other close code, the connection counts as lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

DELAYS_MS = (300, 1_000, 3_000, 5_000)
LATER_MS = 10_000  # after "too many"
GIVE_UP_MS = 45_000
REFUSALS = frozenset({4400, 4401, 4403, 4409, 4410, 4426, 1009})
TOO_MANY = 4429


@dataclass(frozen=True, slots=True)
class LostConnection:
    """When the connection was lost, and how often the client has tried to connect since then."""

    since_ms: int | None = None  # None while it is open
    attempts: int = 0


class NextAttempt(NamedTuple):
    """What the client does next. If `phase` is waiting, it waits for `in_ms` and connects again. If `phase` is refused
    or lost, it doesn't connect again."""

    phase: str  # waiting, refused or lost
    in_ms: int = 0


def after_close(lost: LostConnection, code: int, now_ms: int) -> tuple[LostConnection, NextAttempt]:
    """What the client does after the socket was closed with this code. The code is 0 if the socket couldn't be
    opened."""
    if code in REFUSALS:
        return LostConnection(), NextAttempt("refused")
    since_ms = now_ms if lost.since_ms is None else lost.since_ms
    in_ms = LATER_MS if code == TOO_MANY else DELAYS_MS[min(lost.attempts, len(DELAYS_MS) - 1)]
    if now_ms + in_ms - since_ms > GIVE_UP_MS:
        return LostConnection(), NextAttempt("lost")
    return LostConnection(since_ms, lost.attempts + 1), NextAttempt("waiting", in_ms)
