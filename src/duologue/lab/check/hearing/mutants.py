"""Mutants of the hearing machine: copies of its rows, each broken on purpose in one place.

A mutant lacks one row or one guard, has a guard negated, or has an action dropped, muted or exchanged with the action
of another row of the same kind of input. The share of mutants that laws and tests notice shows how good these checks
are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from duologue.hearing.machine import HEARING_ROWS, HearingRow
from duologue.hearing.state import HearingDraft

from .check import HearingExplorer
from .scopes import SCOPES

# Cheapest first: most mutants are noticed within a second.
_EXPLORATIONS = (
    "fillers",
    "typed",
    "button",
    "firm",
    "textual",
    "stray",
    "over",
    "line",
    "frames",
    "unnumbered",
    "long",
    "job asks",
)
_STATES_MAX = 600
_ONLY_TELL = ("end_turn_by_server", "take_answer", "repeat_question")  # these actions leave the state as it is anyway


class HearingMutant(NamedTuple):
    """Rows that differ from the real ones in one place."""

    kind: str
    name: str
    rows: tuple[HearingRow, ...]


def hearing_mutants(rows: tuple[HearingRow, ...] = HEARING_ROWS) -> Iterator[HearingMutant]:
    """Every mutant, in the order of the rows."""
    for index, row in enumerate(rows):
        yield from _mutants_of(rows, index, row)


def is_noticed_by_laws(mutant: HearingMutant) -> bool:
    """Does a law notice this mutant? A mutant that raises an exception counts as noticed, too."""
    try:
        return any(
            HearingExplorer("confirm", SCOPES[name], mutant.rows, violations_max=1).run(_STATES_MAX).violations
            for name in _EXPLORATIONS
        )
    except Exception:  # noqa: BLE001
        return True


def _mutants_of(rows: tuple[HearingRow, ...], index: int, row: HearingRow) -> Iterator[HearingMutant]:
    name = row.name
    is_idle = row.do.__name__ in ("ignore", "follow")
    shadowed = {kind for later in rows[index + 1 :] for kind in later.on}
    if not is_idle or shadowed & set(row.on):
        yield HearingMutant("drop row", name, (*rows[:index], *rows[index + 1 :]))
    if row.when is not None:
        yield HearingMutant("drop guard", name, _with(rows, index, replace(row, when=None)))
        yield HearingMutant("negate guard", name, _with(rows, index, replace(row, when=_Negated(row.when))))
    if not is_idle:
        if _can_tell(row.do):
            yield HearingMutant("mute action", name, _with(rows, index, replace(row, do=_Muted(row.do))))
        if row.do.__name__ not in _ONLY_TELL:
            yield HearingMutant("tell only", name, _with(rows, index, replace(row, do=_Unchanging(row.do))))
    other = _other_action(rows, row)
    if other is not None:
        yield HearingMutant("swap action", name, _with(rows, index, replace(row, do=other)))


def _with(rows: tuple[HearingRow, ...], index: int, row: HearingRow) -> tuple[HearingRow, ...]:
    return (*rows[:index], row, *rows[index + 1 :])


def _other_action(rows: tuple[HearingRow, ...], row: HearingRow) -> Any:
    """The action of another row for the same kind of input; None if there is no such row."""
    return next((one.do for one in rows if one.on == row.on and one.do is not row.do), None)


def _can_tell(action: Any, depth: int = 4) -> bool:
    """Can this action, or a function that it calls, add intents? To find out, this function reads the names in their
    code."""
    code = getattr(action, "__code__", None)
    if code is None:
        return False
    if "intents" in code.co_names:
        return True
    known = getattr(action, "__globals__", {})
    return depth > 0 and any(_can_tell(known.get(name), depth - 1) for name in code.co_names)


class _Negated:
    """A guard that returns the opposite of the original guard."""

    def __init__(self, guard: Any) -> None:
        self.guard = guard
        self.__name__ = f"not_{guard.__name__}"

    def __call__(self, d: HearingDraft, i: Any) -> bool:
        return not self.guard(d, i)


class _Muted:
    """An action that still changes the state, but whose intents are removed."""

    def __init__(self, action: Any) -> None:
        self.action = action
        self.__name__ = f"muted_{action.__name__}"

    def __call__(self, d: HearingDraft, i: Any) -> None:
        before = len(d.intents)
        self.action(d, i)
        del d.intents[before:]


class _Unchanging:
    """An action that still adds its intents, but leaves the state unchanged."""

    def __init__(self, action: Any) -> None:
        self.action = action
        self.__name__ = f"unchanging_{action.__name__}"

    def __call__(self, d: HearingDraft, i: Any) -> None:
        kept = {name: getattr(d, name) for name in type(d.before)._fields}
        self.action(d, i)
        for name, value in kept.items():
            setattr(d, name, value)
