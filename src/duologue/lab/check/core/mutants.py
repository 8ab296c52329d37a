"""Mutants: copies of the machine, each broken on purpose in one place.

A mutant lacks one row or rule, redirects one row to another state, or lacks one condition (guard), one action or the
effects of one action. The share of mutants that laws, promises and tests notice shows how good these checks are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from duologue.core.draft import Draft
from duologue.core.leaves import Leaf
from duologue.core.machine import ROWS
from duologue.core.rows import Row, Rule
from duologue.core.rules import RULES


class Mutant(NamedTuple):
    """A machine that differs from the real one in one place."""

    kind: str
    name: str
    rows: tuple[Row, ...]
    rules: tuple[Rule, ...]


def mutants() -> Iterator[Mutant]:
    """Every mutant, in the order of the rows, then of the rules."""
    for index, row in enumerate(ROWS):
        yield Mutant("drop row", row.name, _without(ROWS, index), RULES)
        yield Mutant("redirect row", row.name, _with(ROWS, index, replace(row, target=_another_leaf(row))), RULES)
        if row.when is not None:
            yield Mutant("drop guard", row.name, _with(ROWS, index, replace(row, when=None)), RULES)
        if row.do is not None:
            yield Mutant("drop action", row.name, _with(ROWS, index, replace(row, do=None)), RULES)
            yield Mutant("mute action", row.name, _with(ROWS, index, replace(row, do=_muted(row.do))), RULES)
    for index, rule in enumerate(RULES):
        yield Mutant("drop rule", rule.name, ROWS, _without(RULES, index))
        yield Mutant("mute rule", rule.name, ROWS, _with(RULES, index, replace(rule, do=_muted(rule.do))))


def _without(items: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return (*items[:index], *items[index + 1 :])


def _with(items: tuple[Any, ...], index: int, item: Any) -> tuple[Any, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _another_leaf(row: Row) -> Leaf:
    """A wrong target for the row: the leaf that follows the right target in the list of its region's leaves. If the row
    has no target, it is the leaf that follows the row's first source. The last leaf is followed by the first one."""
    leaves: list[Leaf] = list(type(row.sources[0]))
    here = leaves.index(row.target or row.sources[0])
    return leaves[(here + 1) % len(leaves)]


class _WithoutEffects:
    """Wraps an action: the draft still changes, but the effects of the action are removed."""

    def __init__(self, action: Any) -> None:
        self.action = action
        self.__name__ = f"muted_{action.__name__}"

    def __call__(self, d: Draft, *rest: Any) -> None:
        before = len(d.effects)
        self.action(d, *rest)
        del d.effects[before:]


def _muted(action: Any) -> Any:
    return _WithoutEffects(action)
