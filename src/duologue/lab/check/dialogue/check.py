"""Explores dialogues: checks every law for every event in every state of a small domain.

Runs the real `step` on folded states. Rule: nothing here knows what the machine's rows do. The explorer only records
which rows were used and which phase followed which, and compares that with the tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import TypeAlias

from duologue.dialogue.effects import DialogueEffect, Respond
from duologue.dialogue.events import DialogueEvent, UserMessage, WorkFailed
from duologue.dialogue.flow import Domain
from duologue.dialogue.machine import ROWS, row_for, step
from duologue.dialogue.matrix import MATRIX
from duologue.dialogue.state import BUSY, DialogueState, Phase

from ..core.check import Violation, ViolationsMaxReached
from ..explore import Graph, can_reach, explore
from .abstract import Given, fold, fold_given
from .alphabet import TODAY, Alphabet
from .confirmed_once import LAW, account
from .laws import complaints
from .observed_step import ObservedStep
from .state_laws import state_complaints

Stepper: TypeAlias = Callable[[Domain, DialogueState, DialogueEvent], tuple[DialogueState, tuple[DialogueEffect, ...]]]
Node: TypeAlias = tuple[DialogueState, Given]

STATES_MAX = 100_000  # more than any domain has

# Moves of the original specification (`matrix.SOURCE`) that can't happen here, and why.
IMPOSSIBLE: dict[tuple[Phase, Phase], str] = {
    (Phase.WAITING_FOR_SLOT, Phase.ERROR): "everything that can fail has its own phase",
}


@dataclass(slots=True)
class DialogueFindings:
    """What the exploration of one domain found."""

    name: str
    states: int = 0
    steps: int = 0
    seconds: float = 0.0
    complete: bool = True
    depth: int = 0  # every trace of up to this many events was explored; if complete, all traces
    rows: set[str] = field(default_factory=set)
    moves: set[tuple[Phase, Phase]] = field(default_factory=set)
    violations: list[Violation] = field(default_factory=list)


class DialogueExplorer:
    """One exploration of the dialogues about one domain."""

    def __init__(self, name: str, alphabet: Alphabet, stepper: Stepper = step, violations_max: int = 200) -> None:
        self.alphabet = alphabet
        self.domain = alphabet.domain
        self.stepper = stepper
        self.violations_max = violations_max
        self.graph: Graph[Node, DialogueEvent] = Graph()
        self.session = frozenset(name for name, spec in self.domain.slots.items() if spec.is_session)
        self.exits: list[tuple[int, Node]] = []  # where "cancel", or a failed request, leads
        self.found = DialogueFindings(name)

    def run(self, states_max: int = STATES_MAX) -> DialogueFindings:
        """Explore every reachable state, check the laws, and return what was found."""
        began = time.process_time()
        try:
            explore(self.graph, [(fold(DialogueState()), frozenset())], self._successors, states_max)
            self.found.complete = self.graph.complete
            self._judge_exits()
        except ViolationsMaxReached:
            self.found.complete = False
        self.found.states, self.found.depth = len(self.graph.states), self.graph.depth()
        self.found.seconds = time.process_time() - began
        return self.found

    # -- One state

    def _successors(self, number: int, node: Node) -> Iterator[tuple[DialogueEvent, Node]]:
        state, given = node
        for law, message in state_complaints(self.domain, state):
            self.report_violation(law, message, number)
        for event in self.alphabet.stale():
            self.found.steps += 1
            after, effects = self.stepper(self.domain, state, event)
            if after is not state or effects:
                self.report_violation(
                    "nothing stale", f"a late {type(event).__name__} changes something", number, event
                )
        for event in (*self.alphabet.person(state), *self.alphabet.workers(state)):
            target = self._take(number, state, given, event)
            if target is not None:
                if _is_exit(state, event):
                    self.exits.append((number, target))
                yield event, target

    def _take(self, number: int, state: DialogueState, given: Given, event: DialogueEvent) -> Node | None:
        """Apply one event and check the step. Returns the resulting node, or None if the event did nothing."""
        self.found.steps += 1
        row = row_for(state, event)
        try:
            after, effects = self.stepper(self.domain, state, event)
        except Exception as problem:  # noqa: BLE001 - any exception is a finding
            self.report_violation("a step never raises", f"{type(problem).__name__}: {problem}"[:200], number, event)
            return None
        if row is None:
            if after is not state or effects:
                self.report_violation(
                    "nothing stale", f"{type(event).__name__} in {state.phase} changes something", number, event
                )
            return None
        self.found.rows.add(row.name)
        seen = ObservedStep(self.domain, state, event, after, effects)
        self.found.moves.update(seen.moves)
        for law, message in complaints(seen):
            self.report_violation(law, message, number, event)
        left, wrong = account(seen, given)
        for message in wrong:
            self.report_violation(LAW, message, number, event)
        return fold(after, self.session), fold_given(after, left)

    # -- The whole graph

    def _judge_exits(self) -> None:
        """Check that idle can be reached from every state by saying cancel repeatedly. While a request is running, a
        failure of the request is tried instead of a cancel."""
        ways: Graph[Node, DialogueEvent] = Graph()
        ways.states = self.graph.states
        for number, target in self.exits:
            ways.sources.append(number)
            ways.targets.append(self.graph.index[target])
        idle = [number for number, (state, _) in enumerate(self.graph.states) if state.phase is Phase.IDLE]
        reaches = can_reach(ways, idle)
        if self.graph.complete and not all(reaches):
            self.report_violation("cancel leads to rest", "repeated cancel never leads to idle", reaches.index(0))

    # -- Reporting

    def report_violation(self, law: str, message: str, number: int, event: DialogueEvent | None = None) -> None:
        """Record a broken law, with the trace that leads to state `number` and ends with `event`. Each message is
        recorded only once."""
        if any(seen.law == law and seen.message == message for seen in self.found.violations):
            return
        trace = [*self.graph.trace(number), *([event] if event else [])]
        self.found.violations.append(Violation(law, message, tuple(self._tell(trace))))
        if len(self.found.violations) >= self.violations_max:
            raise ViolationsMaxReached

    def _tell(self, trace: list[DialogueEvent]) -> Iterator[str]:
        """The trace as lines of text: each event, the phase after it, and what the agent said or did."""
        state = fold(DialogueState())
        for event in trace:
            try:
                after, effects = self.stepper(self.domain, state, event)
            except Exception as problem:  # noqa: BLE001
                yield f"{named(event):<52} {type(problem).__name__}: {problem}"[:200]
                return
            did = [effect.text if isinstance(effect, Respond) else type(effect).__name__ for effect in effects[1:]]
            yield f"{named(event):<52} {after.phase.value}  {' | '.join(did[:4])}"
            state = fold(after, self.session)


def _is_exit(state: DialogueState, event: DialogueEvent) -> bool:
    if state.phase in BUSY:
        return isinstance(event, WorkFailed)
    return event == UserMessage("cancel", 0, TODAY)


def named(event: DialogueEvent) -> str:
    """The event as one line of text."""
    if isinstance(event, UserMessage):
        return f'"{event.text}"'
    shown = (
        f"{name}={value!r}"
        for name in (one.name for one in fields(event))
        if name not in ("at", "today", "request")
        for value in (getattr(event, name),)
        if value not in ((), "")
    )
    return f"{type(event).__name__}({', '.join(shown)})".replace(", raw='', span=(0, 0), source='grammar'", "")


def unseen_rows(found: list[DialogueFindings]) -> list[str]:
    seen = {row for one in found for row in one.rows}
    return [row.name for row in ROWS if row.name not in seen]


def unseen_moves(found: list[DialogueFindings]) -> list[tuple[Phase, Phase]]:
    """The moves that the matrix (the table of which phase may follow which) allows, but no exploration made."""
    return sorted(MATRIX - {move for one in found for move in one.moves})
