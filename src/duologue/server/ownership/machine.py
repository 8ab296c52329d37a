"""The ownership machine: `step(state, input) -> (state, intents)` for one conversation on one node.

Pure: no clock, no await, no store. Time comes with the heartbeat. Rule: an input that no row takes, or that names the
epoch of another lease, returns the same state and no intents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .inputs import LeaseLost, LeaseRenewed, OwnershipInput, WritingFailed, WritingWorked
from .intents import OwnershipIntent
from .places import LEASED, SERVED, Ownership, Place
from .rows import ROWS, OwnershipRow

ABOUT_A_LEASE = (LeaseRenewed, LeaseLost, WritingFailed, WritingWorked)


class OwnershipMachine:
    """Rows, compiled for lookup by place and input."""

    def __init__(self, rows: Iterable[OwnershipRow] = ROWS) -> None:
        self._table: dict[tuple[Place, type], list[OwnershipRow]] = {}
        for row in rows:
            for source in row.sources:
                for kind in row.on:
                    self._table.setdefault((source, kind), []).append(row)

    def row_for(self, state: Ownership, given: OwnershipInput) -> OwnershipRow | None:
        """The row that takes this input, if there is one."""
        if isinstance(given, ABOUT_A_LEASE) and given.epoch != state.epoch:
            return None
        for row in self._table.get((state.place, type(given)), ()):
            if row.when is None or row.when(state, given):
                return row
        return None

    def step(self, state: Ownership, given: OwnershipInput) -> tuple[Ownership, tuple[OwnershipIntent, ...]]:
        """The state after this input, and what to do now, in this order."""
        row = self.row_for(state, given)
        if row is None:
            return state, ()
        after = state if row.target is None else replace(state, place=row.target)
        intents: list[OwnershipIntent] = []
        for action in row.do:
            after, more = action(after, given)
            intents += more
        return _without_leftovers(after), tuple(intents)


def _without_leftovers(s: Ownership) -> Ownership:
    """Drop the facts that mean nothing in this place: a lease that isn't held, a notice to a client that isn't here."""
    if s.epoch and s.place not in (*LEASED, Place.RETURNING):
        s = replace(s, epoch=0, until_ms=0)
    if s.is_unsaved and s.place not in SERVED:
        s = replace(s, is_unsaved=False)
    return s


MACHINE = OwnershipMachine()
step = MACHINE.step
