"""The pools and queues of this process whose numbers are in the metrics.

A pool is listed from `show` until `hide`. Rule: a pool's name comes from the source code, never from a client, so the
number of names is bounded. If several pools have the same name, such as two stores, their numbers are added.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class PoolCounts(NamedTuple):
    """How many pieces of work are running and waiting now, and how many were done and refused so far."""

    running: int = 0
    waiting: int = 0
    done: int = 0
    refused: int = 0


class CountedPool(Protocol):
    """A pool that counts its work. Its counts may be read in any thread."""

    name: str

    @property
    def counts(self) -> PoolCounts: ...


_SHOWN: list[CountedPool] = []


def show(*pools: CountedPool) -> None:
    """List these pools from now on."""
    _SHOWN.extend(pool for pool in pools if pool not in _SHOWN)


def hide(pool: CountedPool) -> None:
    """List this pool no longer, because it is closed."""
    _SHOWN[:] = [one for one in _SHOWN if one is not pool]


def all_counts() -> dict[str, PoolCounts]:
    """The counts of all listed pools, by name."""
    found: dict[str, PoolCounts] = {}
    for pool in list(_SHOWN):
        pairs = zip(found.get(pool.name, PoolCounts()), pool.counts, strict=True)
        found[pool.name] = PoolCounts(*(one + other for one, other in pairs))
    return found
