"""Diagrams as data: states and moves, without any drawing.

A diagram shows a region (one of the five parts of the machine's state) or a view (a set of names for the state of a
whole conversation, such as "listening"). The moves of a region come from rows and rules. The moves of a view come from
its tables. Rule: a diagram is derived from the machine and never written by hand, so it is never out of date.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from duologue.core.leaves import JobKind, Leaf, Link, Reply, User, Voice
from duologue.core.machine import MACHINE, ROWS
from duologue.core.rows import Row, trigger_name
from duologue.core.settings import Settings
from duologue.core.state import initial
from duologue.core.views import View

from .rule_moves import rule_moves

MoveKind: TypeAlias = Literal["row", "rule", "source", "amended"]

REGIONS: dict[str, type[Leaf]] = {"link": Link, "user": User, "voice": Voice, "reply": Reply, "jobs": JobKind}


@dataclass(frozen=True, slots=True)
class StateNode:
    """One state in a diagram. `start` is true for the state in which a new conversation begins. `timed` is true if the
    state has a deadline, so that it can't last forever."""

    name: str
    start: bool = False
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """All moves of one kind from one state to another. There is one label for each reason of these moves. For each
    label, `rows` has the ids of the rows and rules that give this reason; they are the same ids as in
    `StepRecord.fired`."""

    source: str
    target: str
    labels: tuple[str, ...] = ()
    kind: MoveKind = "row"
    rows: tuple[tuple[int, ...], ...] = ()

    @property
    def is_loop(self) -> bool:
        return self.source == self.target


@dataclass(frozen=True, slots=True)
class Diagram:
    """States and the moves between them. `loops` is the number of rows that don't change the state. They are counted
    even if they aren't drawn."""

    title: str
    nodes: tuple[StateNode, ...]
    edges: tuple[Edge, ...]
    about: str = ""
    loops: int = 0


def region_diagram(region: type[Leaf], loops: bool = False) -> Diagram:
    """The diagram of a region, with the moves that rows and rules make in this region. If `loops` is true, rows that
    don't change the state are included."""
    name = next(name for name, leaves in REGIONS.items() if leaves is region)
    rows = region_rows(region)
    moves = [move for row in rows for move in _row_moves(row)]
    moves += [
        (source.value, target.value, f"rule:{rule}", "rule", _rule_id(rule))
        for rule, source, target in rule_moves(region)
    ]
    start = _start_of(name, region)
    return Diagram(
        title=name,
        nodes=tuple(StateNode(leaf.value, leaf is start, _is_timed(leaf)) for leaf in region),
        edges=tuple(edge for edge in _merge(moves) if loops or not edge.is_loop),
        about=" ".join((region.__doc__ or "").split()),
        loops=sum(row.target is None or row.target in row.sources for row in rows),
    )


def region_rows(region: type[Leaf]) -> tuple[Row, ...]:
    """The rows of one region, in the order in which they are tried."""
    return tuple(row for row in ROWS if isinstance(row.sources[0], region))


def view_diagram(view: View) -> Diagram:
    """The diagram of a view. It has the moves in the view's own table, and the amendments (moves that were added to
    this table) with their reasons."""
    start = view.see(initial(Settings()))
    moves: list[_Move] = [(source, target, "", "source", None) for source, target in view.source_moves()]
    moves += [(source, target, why, "amended", None) for source, target, why in view.amendments]
    return Diagram(
        title=view.name,
        nodes=tuple(StateNode(state, state == start) for state in view.states),
        edges=_merge(moves),
        about="The moves of the source's table" + (", and the amendments to it" if view.amendments else ""),
    )


def row_label(row: Row) -> str:
    """The label that says what makes a row fire: its triggers, and its guard in brackets."""
    triggers = ", ".join(trigger_name(trigger) for trigger in row.on)
    return f"{triggers} [{row.when.__name__}]" if row.when else triggers


_Move: TypeAlias = tuple[str, str, str, MoveKind, int | None]


def _row_moves(row: Row) -> list[_Move]:
    label, number = row_label(row), ROWS.index(row)
    return [(source.value, (row.target or source).value, label, "row", number) for source in row.sources]


def _rule_id(name: str) -> int:
    """The id of a rule, as in `StepRecord.fired`: -1 for the first rule, -2 for the second, and so on."""
    return -1 - [rule.name for rule in MACHINE.rules].index(name)


def _merge(moves: Iterable[_Move]) -> tuple[Edge, ...]:
    """Combines all moves with the same source, target and kind into one edge. The edge has the labels of these moves,
    in order and without duplicates."""
    found: dict[tuple[str, str, MoveKind], dict[str, list[int]]] = {}
    for source, target, label, kind, number in moves:
        labels = found.setdefault((source, target, kind), {})
        if label:
            labels.setdefault(label, []).extend([] if number is None else [number])
    return tuple(
        Edge(source, target, tuple(labels), kind, tuple(tuple(numbers) for numbers in labels.values()))
        for (source, target, kind), labels in found.items()
    )


def _start_of(name: str, region: type[Leaf]) -> Leaf:
    """The leaf of this region in which a new conversation begins. The region `jobs` has a set of records instead of a
    single leaf, so the first of its possible leaves is returned."""
    start = getattr(initial(Settings()), name)
    return start if isinstance(start, Leaf) else next(iter(region))


def _is_timed(leaf: Leaf) -> bool:
    owners = MACHINE.owners
    return leaf in owners.jobs or any(limit.hard and leaf in limit.leaves for limit in owners.limits)
