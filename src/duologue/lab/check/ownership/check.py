"""Explores ownership: two nodes, one conversation and a store that fails, with the real `step`, breadth first.

Rule: every violation is reported with a shortest trace to it. A row that never fired is a violation too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from duologue.server.ownership.inputs import LeaseLost, LeaseRenewed, WritingFailed, WritingWorked
from duologue.server.ownership.machine import MACHINE, OwnershipMachine
from duologue.server.ownership.places import Ownership
from duologue.server.ownership.rows import ROWS

from ..core.check import Violation, ViolationsMaxReached
from ..explore import Graph, can_reach, explore, without_garbage_collection
from ..summary import exploration_to_json, totals_to_json
from .laws import LAWS, NEVER_STUCK, NOTHING_STALE, check_happening, check_world, check_write
from .moves import Move, Mover, OwnershipScope, is_owned
from .promises import PROMISES, broken_promises
from .world import NO_OWNER, NodeView, StoredView, World

_ORPHAN = StoredView(exists=True, owner=NO_OWNER, epoch=1, has_content=True)
SCOPES = (
    OwnershipScope("another agent", _ORPHAN, asks=(0, 1), crashes=(0,), foreign=(False, True), wrong_key=True),
    OwnershipScope("ends", asks=(1,), ends=(0, 1)),
    OwnershipScope("unusable", _ORPHAN._replace(is_usable=False), asks=(1,), fails=(1,), leaves=(1,)),
    OwnershipScope("damage", _ORPHAN, asks=(1,), damages=True, crashes=(0,)),
    OwnershipScope("crashes", asks=(1,), crashes=(0,)),
    OwnershipScope("failures", asks=(1,), fails=(0,)),
    OwnershipScope("failures at the end", ends=(0,), fails=(0,)),
    OwnershipScope("failures while stopping", asks=(0,), fails=(0,), leaves=(0,)),
    OwnershipScope("failures while taking over", _ORPHAN, asks=(1,), fails=(1,)),
    OwnershipScope("moves", asks=(0, 1)),
    OwnershipScope("stops", asks=(1,), leaves=(0,)),
)
STATES_MAX = 1_000_000  # more than any scope has
QUICK_STATES_MAX = 2_000  # for a quick check: these still fire every row
EVERY_ROW_FIRES = "every row fires"


@dataclass(slots=True)
class OwnershipFindings:
    """What one exploration found."""

    scope: str
    states: int = 0
    steps: int = 0
    seconds: float = 0.0
    complete: bool = True
    depth: int = 0  # every trace of up to this many moves was explored; if complete, all traces
    rows: set[str] = field(default_factory=set)
    violations: list[Violation] = field(default_factory=list)


class OwnershipExplorer:
    """One exploration of one scope."""

    def __init__(self, scope: OwnershipScope, machine: OwnershipMachine = MACHINE, violations_max: int = 20) -> None:
        self.scope = scope
        self.machine = machine
        self.mover = Mover(scope, machine)
        self.violations_max = violations_max
        self.graph: Graph[World, Move] = Graph()
        self.kind: list[tuple[int, World]] = []  # steps that aren't failures
        self._fresh: dict[Ownership, list[str]] = {}
        self.found = OwnershipFindings(scope.name)

    def run(self, states_max: int = STATES_MAX) -> OwnershipFindings:
        """Explore every reachable world, check each one, and return what was found."""
        began = time.process_time()
        try:
            start = World(self.scope.start, (NodeView(), NodeView()))
            explore(self.graph, [start], self._successors, states_max)
            self.found.complete = self.graph.complete
            if self.graph.complete:
                self._judge_graph()
        except ViolationsMaxReached:
            self.found.complete = False
        self.found.states, self.found.depth = len(self.graph.states), self.graph.depth()
        self.found.seconds = time.process_time() - began
        return self.found

    def _successors(self, number: int, world: World) -> Iterator[tuple[Move, World]]:
        for law, message in check_world(world):
            self.report_violation(law, message, number)
        self._judge_stale(number, world)
        for move, after, happened in self.mover.moves(world):
            self.found.steps += 1
            for seen in happened:
                if seen.row is not None:
                    self.found.rows.add(seen.row.name)
                for law, message in check_happening(seen):
                    self.report_violation(law, message, number, move)
            for law, message in check_write(world.stored, after.stored):
                self.report_violation(law, message, number, move)
            if move.is_kind and after != world:
                self.kind.append((number, after))
            if after != world:
                yield move, after

    def _judge_stale(self, number: int, world: World) -> None:
        for node in world.nodes:
            late = self._fresh.get(node.ownership)
            if late is None:
                late = self._fresh[node.ownership] = list(self._late_and_taken(node.ownership))
            for name in late:
                self.report_violation(NOTHING_STALE, f"a late {name} changes something", number)

    def _late_and_taken(self, ownership: Ownership) -> Iterator[str]:
        """The names of inputs that change something although they should be ignored, because they are about a lease
        that isn't the current one."""
        epoch = ownership.epoch + 1
        for late in (LeaseLost(epoch), LeaseRenewed(epoch, 9), WritingFailed(epoch), WritingWorked(epoch)):
            if self.machine.step(ownership, late) != (ownership, ()):
                yield type(late).__name__

    def _judge_graph(self) -> None:
        """Check that, without failures, a stored conversation is always taken over in the end, and no client waits
        forever."""
        kind: Graph[World, Move] = Graph()
        kind.states = self.graph.states
        for source, target in self.kind:
            kind.sources.append(source)
            kind.targets.append(self.graph.index[target])
        goals = [number for number, world in enumerate(self.graph.states) if is_owned(world)]
        reaches = can_reach(kind, goals)
        if not all(reaches):
            self.report_violation(NEVER_STUCK, "even without failures, no node ever owns it again", reaches.index(0))

    def report_violation(self, law: str, message: str, number: int, move: Move | None = None) -> None:
        """Record a broken law, with the trace that leads to state `number` and ends with `move`. Each message is
        recorded only once."""
        if any(seen.law == law and seen.message == message for seen in self.found.violations):
            return
        trace = [*self.graph.trace(number), *([move] if move else [])]
        self.found.violations.append(Violation(law, message, tuple(one.name for one in trace)))
        if len(self.found.violations) >= self.violations_max:
            raise ViolationsMaxReached


@dataclass(frozen=True, slots=True)
class OwnershipReport:
    """What all explorations of ownership found."""

    explorations: tuple[OwnershipFindings, ...]
    violations: tuple[Violation, ...]

    def to_json(self) -> dict[str, Any]:
        found = self.explorations
        return {
            **totals_to_json(found),
            "laws": len(LAWS),
            "promises": len(PROMISES),
            "rows": len(ROWS),
            "rows_fired": len({row for one in found for row in one.rows}),
            "violations": len(self.violations),
            "explorations": [exploration_to_json(one) for one in found],
        }


def explore_scope(task: tuple[int, str]) -> OwnershipFindings:
    """Explore the scope with this number. If the size is `quick`, only the states nearest to its start are explored."""
    number, size = task
    with without_garbage_collection():  # also while the whole graph is judged
        return OwnershipExplorer(SCOPES[number]).run(QUICK_STATES_MAX if size == "quick" else STATES_MAX)


def sum_up_ownership(found: Iterable[OwnershipFindings]) -> OwnershipReport:
    """One report about these explorations. If all scopes were explored, every row must have fired."""
    found = tuple(found)
    violations = [one for findings in found for one in findings.violations]
    violations += [Violation("promise", line, ()) for line in broken_promises(MACHINE)]
    fired = {row for findings in found for row in findings.rows}
    if {findings.scope for findings in found} == {scope.name for scope in SCOPES}:
        violations += [Violation(EVERY_ROW_FIRES, row.name, ()) for row in ROWS if row.name not in fired]
    return OwnershipReport(found, tuple(violations))
