"""Mutants of the ownership machine: copies that are broken on purpose in one place.

A mutant drops or redirects one row, or drops one of its guards, sources, inputs or actions. Rule: the share of mutants
that promises and laws notice shows how good these checks are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from duologue.server.ownership.machine import OwnershipMachine
from duologue.server.ownership.places import Place
from duologue.server.ownership.rows import ROWS, OwnershipRow

from .check import SCOPES, OwnershipExplorer
from .moves import OwnershipScope
from .promises import broken_promises


class OwnershipMutant(NamedTuple):
    """A table that differs from the real one in one row."""

    kind: str
    row: str
    rows: tuple[OwnershipRow, ...]


def ownership_mutants() -> Iterator[OwnershipMutant]:
    """All mutants of the ownership machine, in the order of its ROWS."""
    for index, row in enumerate(ROWS):
        yield OwnershipMutant("drop row", row.name, _without(ROWS, index))
        yield OwnershipMutant("redirect row", row.name, _with(index, replace(row, target=_another(row))))
        if row.when is not None:
            yield OwnershipMutant("drop guard", row.name, _with(index, replace(row, when=None)))
        for at, action in enumerate(row.do):
            changed = replace(row, do=_without(row.do, at))
            yield OwnershipMutant(f"drop {action.__name__}", row.name, _with(index, changed))
        for at, source in enumerate(row.sources if len(row.sources) > 1 else ()):
            changed = replace(row, sources=_without(row.sources, at))
            yield OwnershipMutant(f"drop source {source.value}", row.name, _with(index, changed))
        for at, kind in enumerate(row.on if len(row.on) > 1 else ()):
            changed = replace(row, on=_without(row.on, at))
            yield OwnershipMutant(f"drop input {kind.__name__}", row.name, _with(index, changed))


def what_notices(mutant: OwnershipMutant, scopes: Iterable[OwnershipScope] = SCOPES) -> str:
    """What notices this mutant: "promises", the first law that it breaks, or nothing (""). Promises come first, because
    they are cheap."""
    machine = OwnershipMachine(mutant.rows)
    try:
        if any(broken_promises(machine)):
            return "promises"
        for scope in scopes:
            found = OwnershipExplorer(scope, machine, violations_max=1).run()
            if found.violations:
                return found.violations[0].law
    except Exception as failure:  # noqa: BLE001 - a machine that raises has been noticed
        return type(failure).__name__
    return ""


def _without(items: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return (*items[:index], *items[index + 1 :])


def _with(index: int, row: OwnershipRow) -> tuple[OwnershipRow, ...]:
    return (*ROWS[:index], row, *ROWS[index + 1 :])


def _another(row: OwnershipRow) -> Place:
    """A wrong target for the row: the place (state of the ownership machine) that follows the right target in the list
    of places. If the row has no target, because the place stays the same, it is the place that follows the row's first
    source. The last place is followed by the first one."""
    places = list(Place)
    return places[(places.index(row.target or row.sources[0]) + 1) % len(places)]
