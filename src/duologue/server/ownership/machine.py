"""The ownership machine: `step(state, input) -> (state, intents)` for one conversation on one node (server process). An
intent says what the node must do.

The machine is pure: it has no clock, never awaits, and doesn't use the store. The heartbeat input tells it the time.
Rule: if no row of the table applies to an input, or if the input has the epoch (number) of another lease, the state
stays the same and there are no intents.
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
    """The rows of the ownership machine, in a table that is looked up by two keys: the place (the state of the
    machine), and the type of the input."""

    def __init__(self, rows: Iterable[OwnershipRow] = ROWS) -> None:
        self._table: dict[tuple[Place, type], list[OwnershipRow]] = {}
        for row in rows:
            for source in row.sources:
                for kind in row.on:
                    self._table.setdefault((source, kind), []).append(row)

    def row_for(self, state: Ownership, given: OwnershipInput) -> OwnershipRow | None:
        """The row that applies to this input in this state; None if there is no such row, or if the input is about a
        lease that isn't the current one."""
        if isinstance(given, ABOUT_A_LEASE) and given.epoch != state.epoch:
            return None
        for row in self._table.get((state.place, type(given)), ()):
            if row.when is None or row.when(state, given):
                return row
        return None

    def step(self, state: Ownership, given: OwnershipInput) -> tuple[Ownership, tuple[OwnershipIntent, ...]]:
        """Take one input. Returns the state after it, and the intents (what the node must do now), in order."""
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
    """Reset the fields that mean nothing in the present place (state) of the machine: the lease, if none is held; and
    `is_unsaved`, if the conversation doesn't run here."""
    if s.epoch and s.place not in (*LEASED, Place.RETURNING):
        s = replace(s, epoch=0, until_ms=0)
    if s.is_unsaved and s.place not in SERVED:
        s = replace(s, is_unsaved=False)
    return s


MACHINE = OwnershipMachine()
step = MACHINE.step
