"""Explores the hearing machine together with the conversation machine, and checks every law in every step and state.

Runs the real machines on abstract states, one profile and scope at a time. Each step is also made from a state with the
real times and ids, to see that the abstraction changes nothing. Rule: every violation is reported with a shortest trace
to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from duologue.core import events as ev
from duologue.core.leaves import CLOSED, Link, Reply, User
from duologue.core.machine import MACHINE, Machine
from duologue.core.state import initial
from duologue.hearing.inputs import Typed
from duologue.hearing.machine import HEARING_ROWS, HearingMachine, HearingRow

from ..core.check import Violation, ViolationsMaxReached
from ..explore import Graph, explore
from . import laws
from .abstract import NOW, abstract, abstract_ledger
from .alphabet import choices
from .answer_ledger import AnswerLedger
from .ledger import LedgerChoice, WordsLedger, note
from .product import HearingProduct, Posted, ProductState, ProductStep, TimePassed, begin_product
from .scopes import HearingScope

LONG_MS = 60_000
LONG_TURNS_MAX = 2  # a voice or a button that goes on begins a turn again and again
JOB = 1  # the number of the job that asks, in scopes with a job
WAITS_MAX = 100  # due times that may pass until a turn ends
REPLAYED_EVERY = 499  # one of this many states is reached again from the start


class HearingNode(NamedTuple):
    """A state of the hearing machine and the conversation machine, and what the ledger knows."""

    state: ProductState
    ledger: WordsLedger


@dataclass(slots=True)
class HearingFindings:
    """What one exploration of hearing found. `fired` has the indices of rows. If the exploration isn't complete, it was
    stopped at a number of states, and `depth` says how far it went: every trace of up to `depth` stimuli was
    checked."""

    profile: str
    scope: str
    states: int = 0
    steps: int = 0
    seconds: float = 0.0
    complete: bool = True
    depth: int = 0
    fired: set[int] = field(default_factory=set)
    violations: list[Violation] = field(default_factory=list)


class _Counting:
    """Wraps the action of a row, and notes that the row has fired."""

    def __init__(self, action: Any, index: int, fired: set[int]) -> None:
        self.action, self.index, self.fired = action, index, fired
        self.__name__ = action.__name__

    def __call__(self, d: Any, i: Any) -> None:
        self.fired.add(self.index)
        self.action(d, i)


class HearingExplorer:
    """One exploration of one profile in one scope."""

    def __init__(
        self,
        profile: str,
        scope: HearingScope,
        rows: tuple[HearingRow, ...] = HEARING_ROWS,
        machine: Machine = MACHINE,
        violations_max: int = 10,
    ) -> None:
        self.found = HearingFindings(profile, scope.name)
        counted = [replace(row, do=_Counting(row.do, index, self.found.fired)) for index, row in enumerate(rows)]
        self.scope = scope
        self.settings = scope.settings(profile)
        self.product = HearingProduct(scope.policy(profile), HearingMachine(counted), machine)
        self.violations_max = violations_max
        self.graph: Graph[HearingNode, LedgerChoice] = Graph()
        self.real: list[HearingNode] = []  # for each state of the graph, the same state with the real times and ids
        self.time_edges: dict[int, tuple[HearingNode, int]] = {}

    def run(self, states_max: int = 5_000_000, progress: Callable[[int, int], None] | None = None) -> HearingFindings:
        """Explore every reachable state, check each one, and return what was found."""
        began = time.process_time()
        try:
            start = self.start()
            self.real.append(start)
            explore(self.graph, [self.reduce(start)], self._successors, states_max, progress)
            self.found.complete = self.graph.complete
            self.found.depth = self.graph.depth()
            self._judge_waits()
            self._judge_replays()
        except ViolationsMaxReached:
            self.found.complete = False
        self.found.states = len(self.graph.states)
        self.found.seconds = time.process_time() - began
        return self.found

    def follow(self, trace: Sequence[LedgerChoice], states_max: int) -> list[Violation]:
        """Take the steps of one trace, as far as they are possible, and check each of them. Then explore up to
        `states_max` states from there. Returns the violations."""
        try:
            start = self.start()
            self.real.append(start)
            node = self.reduce(start)
            number = self.graph.add(node, -1, None)
            for choice in trace:
                if choice not in choices(self.scope, node.state, node.ledger):
                    break
                after = self._take(number, node, choice)
                if after is None:
                    break
                node, number = after, self.graph.add(after, number, choice)
            explore(self.graph, (), self._successors, len(self.graph.states) + states_max, first=number)
            for last in range(number, len(self.graph.states)):
                self._judge_wait(last)
        except ViolationsMaxReached:
            self.found.complete = False
        return self.found.violations

    def start(self) -> HearingNode:
        """The node where the exploration starts: the line is up and, in some scopes, the agent is speaking."""
        ledger = WordsLedger(answers=AnswerLedger() if self.scope.asks else None)
        node = HearingNode(begin_product(initial(self.settings), NOW), ledger)
        first = [LedgerChoice(Posted(ev.StartRequested)), LedgerChoice(Posted(ev.SessionReady))]
        if self.scope.begins_speaking:
            first += [LedgerChoice(Typed(0, "well")), LedgerChoice(Posted(ev.AudioBuffered))]
        if self.scope.asks:
            first.append(LedgerChoice(Typed(0, "well")))
        if self.scope.job:
            called = Posted(ev.ToolCalled, (("call", JOB), ("cancellable", False)))
            asked = Posted(ev.JobAsked, (("call", JOB),))
            first += [LedgerChoice(one) for one in (called, Posted(ev.ReplyFinished), asked)]
        for choice in first:
            node = self.take(node, choice)[0]
        return node

    def take(self, node: HearingNode, choice: LedgerChoice) -> tuple[HearingNode, ProductStep]:
        step = self.product.take(node.state, choice.stimulus)
        return HearingNode(step.after, note(node.ledger, choice, step)), step

    def reduce(self, node: HearingNode) -> HearingNode:
        """The same node with an abstract state and an abstract ledger."""
        asked = node.ledger.answers.replies if node.ledger.answers is not None else None
        state = abstract(node.state, self.product.policy, asked, self.scope.echoes)
        return HearingNode(state, abstract_ledger(node.ledger, node.state))

    # -- One state

    def _successors(self, number: int, node: HearingNode) -> Iterator[tuple[LedgerChoice, HearingNode]]:
        for choice in choices(self.scope, node.state, node.ledger):
            target = self._take(number, node, choice)
            if target is not None:
                yield choice, target

    def _take(self, number: int, node: HearingNode, choice: LedgerChoice) -> HearingNode | None:
        """Make one choice and check the step. Returns the node after it, or None if this node isn't explored."""
        if isinstance(choice.stimulus, TimePassed) and self._is_due(node.state, choice.stimulus.ms):
            return None
        self.found.steps += 1
        after, step = self.take(node, choice)
        reduced = self.reduce(after)
        real = self._judge_abstraction(number, choice, step, reduced)
        self._judge(number, choice, step, node.ledger, after, reduced)
        if isinstance(choice.stimulus, TimePassed) and not choice.stimulus.ms:
            if not step.steps and step.after.hearing == step.before.hearing:
                return None  # nothing is due any more
            self.time_edges[number] = (reduced, step.after.at - NOW)
            is_long = step.after.at - NOW > LONG_MS
            if is_long and not (self.scope.long and node.state.core.turn < LONG_TURNS_MAX):
                return None  # the scope "long" explores what follows
        if reduced not in self.graph.index:
            self.real.append(real)
        return reduced

    def _is_due(self, s: ProductState, ms: int) -> bool:
        """Is a timer due within these milliseconds? If so, the clock can't advance by all of them at once: timers are
        never late, so this timer has to fire first."""
        due = self.product.next_due(s)
        return ms > 0 and due is not None and due <= s.at + ms

    def _judge_abstraction(
        self, number: int, choice: LedgerChoice, step: ProductStep, reduced: HearingNode
    ) -> HearingNode:
        """Check that the same choice, made from the state with the real times and ids, leads to the same abstract state
        and to the same events. Returns the node after the choice, with the real times and ids."""
        after, real_step = self.take(self.real[number], choice)
        if _outline(real_step) != _outline(step):
            self.report_violation(
                laws.SAME_AGAIN, "the abstraction changes what the conversation machine is told", number, choice
            )
        real = self.reduce(after)
        if real != reduced:
            message = f"the abstraction changes what happens: {', '.join(differences(real, reduced))}"
            self.report_violation(laws.SAME_AGAIN, message, number, choice)
        return after

    def _judge(
        self,
        number: int,
        choice: LedgerChoice,
        step: ProductStep,
        ledger: WordsLedger,
        after: HearingNode,
        reduced: HearingNode,
    ) -> None:
        """Check the laws about the step. If the step leads to a state that wasn't checked before, also check the laws
        about that state."""
        policy = self.product.policy
        for law, message in (*laws.check_step(policy, step, ledger), *laws.check_answers(step, after.ledger)):
            self.report_violation(law, message, number, choice)
        if reduced not in self.graph.index:
            for law, message in laws.check_state(policy, after.state, after.ledger):
                self.report_violation(law, message, number, choice)

    # -- The whole graph

    def _judge_waits(self) -> None:
        """Check that, from every state, time alone ends the open turn within the longest time that a turn may take."""
        longest_ms = self.settings.talk_ms_max + self.settings.settle_ms_max + 2 * 60_000
        for number, node in enumerate(self.graph.states):
            if _is_settled(node, node):
                continue
            here, waited_ms = number, 0
            for _ in range(WAITS_MAX):
                if here not in self.time_edges:
                    if self.graph.complete and here >= 0:
                        self.report_violation(
                            laws.EVERY_WAIT_ENDS, "without further events, the turn stays open", number
                        )
                    break
                after, ms = self.time_edges[here]
                waited_ms += ms
                if _is_settled(node, after):
                    break
                here = self.graph.index.get(after, -1)
            else:
                self.report_violation(laws.EVERY_WAIT_ENDS, "timers alone lead back to the same state", number)
            if waited_ms > longest_ms:
                self.report_violation(laws.EVERY_WAIT_ENDS, f"the turn stays open for {waited_ms} ms", number)

    def _judge_wait(self, number: int) -> None:
        """Check that, from this state, time alone ends the open turn. Unlike `_judge_waits`, this needs no graph."""
        first = node = self.graph.states[number]
        for _ in range(WAITS_MAX):
            if _is_settled(first, node):
                return
            before, (node, step) = node, self.take(node, LedgerChoice(TimePassed()))
            if not step.steps and node.state.hearing == before.state.hearing:
                self.report_violation(laws.EVERY_WAIT_ENDS, "without further events, the turn stays open", number)
                return
        self.report_violation(laws.EVERY_WAIT_ENDS, "timers alone lead back to the same state", number)

    def _judge_replays(self) -> None:
        """Check that the same stimuli, processed again, lead to the same state. Only some states are checked."""
        last = len(self.graph.states) - 1
        for number in (*range(0, last, REPLAYED_EVERY), last):
            node = self.start()
            for choice in self.graph.trace(number):
                node = self.take(node, choice)[0]
            if node != self.real[number]:
                self.report_violation(laws.SAME_AGAIN, "two runs end in different states", number)

    # -- Reporting

    def report_violation(self, law: str, message: str, number: int, choice: LedgerChoice | None = None) -> None:
        """Record a broken law, with the trace that leads to state `number` and ends with `choice`. Each message is
        recorded only once."""
        if any(seen.law == law and seen.message == message for seen in self.found.violations):
            return
        trace = [*self.graph.trace(number), *([choice] if choice else [])]
        self.found.violations.append(Violation(law, message, tuple(self.trace_lines(trace))))
        if len(self.found.violations) >= self.violations_max:
            raise ViolationsMaxReached

    def trace_lines(self, trace: list[LedgerChoice]) -> Iterator[str]:
        """One line for each stimulus of a trace: what it is, the state after it, and the events that it led to."""
        node = self.start()
        began_at = node.state.at
        for choice in trace:
            node, step = self.take(node, choice)
            core = node.state.core
            told = ", ".join(_told(one.record.event, one.record.after is one.record.before) for one in step.steps)
            regions = "/".join(leaf.value for leaf in (core.link, core.user, core.voice, core.reply))
            turns = f"{core.answered}-{core.asked}-{core.said}-{core.turn}"
            yield f"{node.state.at - began_at:>7} {_shown(choice.stimulus):<44} {regions} {turns}  {told}"


def _is_settled(node: HearingNode, after: HearingNode) -> bool:
    """Is the turn that is open in `node` over in the later node `after`? Also true if waiting longer isn't a mistake:
    the link is closed, has a fault or is paused (until the user or the program ends the pause), or a request is being
    retried."""
    before, core = node.state.core, after.state.core
    if core.link in CLOSED or core.link in (Link.FAULTED, Link.SUSPENDED):
        return True
    return core.user is User.QUIET or core.turn > before.turn or core.reply is Reply.RETRYING


def _outline(step: ProductStep) -> list[tuple[type[ev.Event], bool]]:
    """For each event that the conversation machine gets in this step: its type, and whether the machine ignores it."""
    return [(type(told.record.event), told.record.after is told.record.before) for told in step.steps]


def differences(one: Any, other: Any, name: str = "") -> list[str]:
    """The names of the fields in which two values differ."""
    if one == other:
        return []
    if type(one) is type(other) and hasattr(one, "_fields"):
        return [
            found
            for field_name, mine, theirs in zip(one._fields, one, other, strict=True)
            for found in differences(mine, theirs, field_name)
        ]
    return [name]


def _told(event: ev.Event, is_ignored: bool) -> str:
    if isinstance(event, ev.TimerFired):
        return f"timer {event.timer.value}"
    return f"({type(event).__name__})" if is_ignored else type(event).__name__


def _shown(stimulus: Any) -> str:
    if isinstance(stimulus, Posted):
        return f"{stimulus.kind.__name__}{dict(stimulus.given) or ''}"
    return str(stimulus)
