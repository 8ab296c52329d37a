"""Explores the conversation machine: checks every law for every event in every reachable state.

Runs the real `step` on abstract states, one profile at a time. The explorer does not know what the machine's rows and
rules do. It only records which of them fired. Rule: every violation is reported with a shortest trace to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from duologue.core.codec import state_from_json, state_to_json
from duologue.core.effects import Effect
from duologue.core.events import Event, LinkHealed, LinkWobbled, ResumeRequested, SuspendRequested, TimerFired
from duologue.core.leaves import Link
from duologue.core.machine import MACHINE, Machine
from duologue.core.settings import Settings
from duologue.core.state import State, initial, is_at_rest
from duologue.core.views import VIEWS

from ..explore import Graph, can_reach, explore, find_cycle, without_garbage_collection
from . import audible_laws, laws, promises
from .abstract import ID, SOFT, abstract
from .alphabet import fresh, stale, timers
from .laws import CheckedStep, describe
from .outcomes import Family, KnownEvents, StepOutcome, Tree, outcome_of
from .promises import PROMISES, Promise
from .scopes import CheckScope
from .sharing import KnownSteps, SharedSteps
from .watched import Reads, WatchedDraft, WatchedState, answers

_PAUSES = (
    (SuspendRequested(0, 1), ResumeRequested(0, 2)),
    (LinkWobbled(0, 1, ID), LinkHealed(0, 2, ID)),
)
_DRAFT: Any = WatchedDraft  # has every method of a draft


@dataclass(frozen=True, slots=True)
class Violation:
    """A law or a promise that does not hold, with a shortest trace that shows it."""

    law: str
    message: str
    trace: tuple[str, ...]


@dataclass(slots=True)
class Findings:
    """What one exploration found. In `fired`, the number of a row is its index, and the number of a rule is -1 minus
    its index."""

    profile: str
    scope: str
    bounds: dict[str, int]
    states: int = 0
    steps: int = 0
    seconds: float = 0.0
    complete: bool = True
    depth: int = 0  # every trace of up to this many events was explored; if complete, all traces
    fired: set[int] = field(default_factory=set)
    moves: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: {name: set() for name in VIEWS})
    tested: set[str] = field(default_factory=set)  # promises that applied at least once
    violations: list[Violation] = field(default_factory=list)


def explore_profiles(profiles: Iterable[Settings], scope: CheckScope) -> list[Findings]:
    """Explore these profiles in one scope. A step that is the same in several profiles is made and checked once."""
    profiles = tuple(profiles)
    shared = SharedSteps([scope.narrow(one) for one in profiles])
    with without_garbage_collection():  # also between two explorations, and while the whole graph is judged
        found = [CoreExplorer(one, scope, shared=shared).run(scope.states_max) for one in profiles]
        shared.forget()
    return found


class ViolationsMaxReached(Exception):
    """Raised to end an exploration that has found `violations_max` violations."""


class CoreExplorer:
    """One exploration of one profile in one scope."""

    def __init__(
        self,
        settings: Settings,
        scope: CheckScope,
        machine: Machine = MACHINE,
        violations_max: int = 20,
        promised: Iterable[Promise] = PROMISES,
        shared: SharedSteps | None = None,
    ) -> None:
        settings = scope.narrow(settings)
        self.profile = settings
        self.shared = shared or SharedSteps([settings])
        self.settings = self.shared.settings
        self.scope = scope
        self.machine = machine
        self.violations_max = violations_max
        self.promised = promises.index(promised)
        self.graph: Graph[State, Event] = Graph()
        self.timer_edges: list[tuple[int, State]] = []
        self.outcomes = self.shared.outcomes
        self.complaints = 0  # how often a law or a promise has complained
        self.saved: set[object] = set()  # values of fields, and orders of turns, that snapshots keep
        self.found = Findings(
            settings.name,
            scope.name,
            {
                "retries": len(settings.retry_ms),
                "attempts": len(settings.backoff_ms),
                "check_ins": settings.check_ins_max,
                "faults": settings.faults_max,
                "faults_in_a_row": settings.faults_in_a_row_max,
                "losses": settings.line_losses_max,
                "jobs": settings.jobs_max,
            },
        )

    def run(self, states_max: int = 10_000_000, progress: Callable[[int, int], None] | None = None) -> Findings:
        """Explore every reachable state, check each one, and return what was found."""
        began = time.process_time()
        self.shared.begin(self.profile)
        try:
            explore(self.graph, [abstract(initial(self.settings))], self._successors, states_max, progress)
            self.found.complete = self.graph.complete
            if self.graph.complete:
                self._judge_graph()
        except ViolationsMaxReached:
            self.found.complete = False
        self.found.states, self.found.depth = len(self.graph.states), self.graph.depth()
        self.found.seconds = time.process_time() - began
        return self.found

    def follow(self, trace: Sequence[Event]) -> list[Violation]:
        """Take the steps of one trace (list of events). Check its last step, the state after this step, and every step
        that may follow. Returns the violations."""
        self.shared.begin(self.profile)
        s = abstract(initial(self.settings))
        number = self.graph.add(s, -1, None)
        try:
            for event in trace[:-1]:
                s = abstract(self.machine.step(s, event)[0], self.scope.late_turns)
                number = self.graph.add(s, number, event)
            after = self._step(number, self._watch(s)[0], trace[-1])
            if after is not None:
                s = abstract(after.unwatched(), self.scope.late_turns)
                number = self.graph.add(s, number, trace[-1])
                for _ in self._successors(number, s):
                    pass
        except ViolationsMaxReached:
            self.found.complete = False
        return self.found.violations

    # -- One state

    def _successors(self, number: int, s: State) -> Iterator[tuple[Event, State]]:
        known = self.shared.find(s)
        if known is not None:
            yield from self._take_known(number, s, known)
            return
        family, found = self.outcomes.family(s), answers(s, self.profile.name)
        is_shared = self._judge_alone(number, s, family, found)
        steps: list[tuple[Event, State | None]] = []
        alphabet = self._alphabet(s, family, found)
        for event, tree in alphabet.visit():
            target, by_profile = self._take(number, s, event, tree, found)
            if target is not None:
                yield event, target
            if by_profile or target is not None:
                steps.append((event, None if by_profile else target))
        self.found.steps += alphabet.idle_steps
        if is_shared:
            self.shared.put(s, steps)

    def _take_known(self, number: int, s: State, known: KnownSteps) -> Iterator[tuple[Event, State]]:
        """Yield the steps from this state. Steps that another profile has already made and checked are taken from
        `known`. Steps that depend on the profile are made again."""
        self.found.steps += len(known.events)
        family, found = self.outcomes.family(s), answers(s, self.profile.name)
        for event, target in zip(known.events, known.targets, strict=True):
            if target is None:
                target, _ = self._take(number, s, event, family.of(event), found)
            else:
                self._note_timer(number, event, target)
            if target is not None:
                yield event, target

    def _watch(self, s: State) -> tuple[WatchedState, Reads]:
        """Wrap this state, so that reads of its fields are noted. Returns the wrapped state and the notes, which are
        still empty."""
        reads: Reads = {}
        self.shared.reads = reads
        return WatchedState(s, reads), reads

    def _alphabet(self, s: State, family: Family, found: tuple[Any, ...]) -> KnownEvents:
        """Every event that may happen in this state, each with the outcomes that are already known for this event."""
        known = family.alphabet.find(found)
        if known is None:
            watched, reads = self._watch(s)
            events = (*timers(watched), *fresh(watched, self.scope))  # type: ignore[arg-type]
            known = KnownEvents([(event, family.of(event)) for event in events])
            family.alphabet.put(reads, known)
        return known

    def _take(
        self, number: int, s: State, event: Event, tree: Tree[StepOutcome], found: tuple[Any, ...]
    ) -> tuple[State | None, bool]:
        """Apply one event and check the step, or use the outcome of an equal step that was checked before. Returns two
        values: the next state (None if the event was ignored), and whether this result may differ in other profiles."""
        outcome = tree.find(found)
        if outcome is None:
            return self._make(number, s, event, tree)
        self.found.steps += outcome.steps
        if outcome.change is None:
            return None, outcome.by_profile
        target = outcome.change.apply(s, self.scope.late_turns)
        self._note_timer(number, event, target)
        return target, outcome.by_profile

    def _make(self, number: int, s: State, event: Event, tree: Tree[StepOutcome]) -> tuple[State | None, bool]:
        before, reads = self._watch(s)
        complaints, steps = self.complaints, self.found.steps
        after = self._step(number, before, event)
        outcome = outcome_of(after, reads, self.found.steps - steps)
        if complaints == self.complaints:
            tree.put(reads, outcome)
        if outcome.change is None:
            return None, outcome.by_profile
        target = outcome.change.apply(s, self.scope.late_turns)
        self._note_timer(number, event, target)
        return target, outcome.by_profile

    def _step(self, number: int, before: Any, event: Event) -> WatchedState | None:
        """Apply one event to a watched state and check the step. Returns the next state, or None if the event did
        nothing."""
        self.found.steps += 1
        d = self.machine.advance(before, event, _DRAFT)
        self._noted(number, before, event, () if d is None else tuple(d.fired))
        if d is None:
            self._judge_promises(number, CheckedStep(before, event, before, ()))
            if type(event) is TimerFired:
                self.report_violation(
                    laws.NEVER_STUCK, f"the deadline {event.timer.value} fires, but no row handles it", number
                )
            return None
        self.found.fired.update(d.fired)
        step = CheckedStep(before, event, d.build(), tuple(d.effects))
        self._judge_step(number, step)
        self._judge_views(number, step)
        return step.after  # type: ignore[return-value]

    def _noted(self, number: int, before: Any, event: Event, fired: tuple[int, ...]) -> None:
        """Do nothing. A subclass may override this; it is called for each step that is really made, but not for a step
        whose outcome is already known."""

    def _note_timer(self, number: int, event: Event, target: State) -> None:
        if type(event) is TimerFired and event.timer not in SOFT:
            self.timer_edges.append((number, target))

    def _judge_alone(self, number: int, s: State, family: Family, found: tuple[Any, ...]) -> bool:
        """Check the state by itself, and that stale events change nothing in it. Returns whether the result of these
        checks is the same in all profiles."""
        is_shared = True
        for tree, judge in ((family.state, self._judge_state), (family.stale, self._judge_stale)):
            outcome = tree.find(found)
            if outcome is None:
                watched, reads = self._watch(s)
                complaints, steps = self.complaints, self.found.steps
                judge(number, watched)
                outcome = outcome_of(None, reads, self.found.steps - steps)
                if complaints == self.complaints:
                    tree.put(reads, outcome)
            else:
                self.found.steps += outcome.steps
            is_shared = is_shared and not outcome.by_profile
        self._judge_snapshot(number, s)
        return is_shared

    def _judge_stale(self, number: int, s: Any) -> None:
        late = stale(s)
        self.found.steps += len(late)
        for event in late:
            if self.machine.advance(s, event, _DRAFT) is not None:
                self.report_violation(laws.NOTHING_STALE, f"the stale event {event} changes something", number, event)

    def _judge_state(self, number: int, s: Any) -> None:
        for law, message in (*laws.check_state(s), *audible_laws.check_state(s)):
            self.report_violation(law, message, number)
        d = _DRAFT(s, self.machine.owners, 0)
        for rule in self.machine.rules:
            if s.link in rule.links and rule.when(d):
                self.report_violation(laws.RULES_AT_REST, f"rule {rule.name} still applies after the step", number)
        if s.link is Link.UP:
            for pause, resume in _PAUSES:
                self._judge_pause(number, s, pause, resume)

    def _judge_snapshot(self, number: int, s: State) -> None:
        """Check that a state is the same after it was saved and loaded. Saving and loading treats each field by itself;
        only the turns are compared with each other. So it is enough to check each value of each field, and each
        combination of turns, one time."""
        seen = self.saved
        turns = s[_TURNS]
        if turns in seen and seen.issuperset(enumerate(s)):
            return
        if state_from_json(state_to_json(s), s.settings) != s:
            self.report_violation(
                laws.PAUSING_CHANGES_NOTHING, "the state differs after a snapshot is saved and loaded", number
            )
        else:
            seen.add(turns)
            seen.update(enumerate(s))

    def _judge_pause(self, number: int, s: Any, pause: Event, resume: Event) -> None:
        paused, first = self._advance(s, pause)
        resumed, second = self._advance(paused, resume)
        same = resumed._replace(at=s.at, seq=s.seq) == s
        if not same:
            same = abstract(resumed.unwatched(), self.scope.late_turns) == s.unwatched()
            self.complaints += 1  # the states were compared as a whole, so this holds for no other state
        steps = (CheckedStep(s, pause, paused, first), CheckedStep(paused, resume, resumed, second))
        for law, message in laws.check_pause(*steps, same):
            self.report_violation(law, message, number, pause)

    def _advance(self, s: Any, event: Event) -> tuple[Any, tuple[Effect, ...]]:
        d = self.machine.advance(s, event, _DRAFT)
        return (s, ()) if d is None else (d.build(), tuple(d.effects))

    def _judge_step(self, number: int, step: CheckedStep) -> None:
        for law, message in (*laws.check_step(step), *audible_laws.check_step(step)):
            self.report_violation(law, message, number, step.event)
        self._judge_promises(number, step)
        self.found.steps += 1
        if self.machine.advance(step.after, step.event, _DRAFT) is not None:
            self.report_violation(
                laws.IDEMPOTENT, "the same event, applied again, changes something", number, step.event
            )

    def _judge_views(self, number: int, step: CheckedStep) -> None:
        s, then = step.before, step.after
        is_same = s.link is then.link and s.user is then.user and s.voice is then.voice and s.reply is then.reply
        if is_same and then.jobs is s.jobs:
            return
        before, after = _seen(s), _seen(then)
        for name, source, target in zip(VIEWS, before, after, strict=True):
            if source != target and (source, target) not in self.found.moves[name]:
                self.found.moves[name].add((source, target))
                if (source, target) not in VIEWS[name].allowed():
                    self.report_violation(laws.VIEWS_ARE_HONEST, f"{name}: {source} -> {target}", number, step.event)

    def _judge_promises(self, number: int, step: CheckedStep) -> None:
        before, event = step.before, step.event
        for name, _, when, then in self.promised.get(promises.trigger_of(event), ()):
            if when(before, event):
                self.found.tested.add(name)
                if not then(step):
                    self.report_violation(laws.PROMISE_IS_KEPT, name, number, event)

    # -- The whole graph

    def _judge_graph(self) -> None:
        states = self.graph.states
        rest = [number for number, s in enumerate(states) if _may_rest(s)]
        reaches = can_reach(self.graph, rest)
        if not all(reaches):
            self.report_violation(laws.NEVER_STUCK, "no state of rest can be reached from this state", reaches.index(0))
        index = self.graph.index
        edges = [(source, index[target]) for source, target in self.timer_edges]
        on_cycle = find_cycle(len(states), edges)
        if on_cycle is not None:
            self.report_violation(laws.NEVER_STUCK, "timers alone lead back to the same state", on_cycle)
        leads_on = {source for source, _ in edges}
        for number, s in enumerate(states):
            if number not in leads_on and not _may_rest(s):
                self.report_violation(
                    laws.EVERY_SENTENCE_ENDS, "without further events, the conversation stays here for ever", number
                )
                break

    # -- Reporting

    def report_violation(self, law: str, message: str, number: int, event: Event | None = None) -> None:
        """Record a broken law, with the trace that leads to state `number` and ends with `event`. Each message is
        recorded only once."""
        self.complaints += 1
        if any(seen.law == law and seen.message == message for seen in self.found.violations):
            return
        trace = [*self.graph.trace(number), *([event] if event else [])]
        self.found.violations.append(Violation(law, message, tuple(self._trace_lines(trace))))
        if len(self.found.violations) >= self.violations_max:
            raise ViolationsMaxReached

    def _trace_lines(self, trace: list[Event]) -> Iterator[str]:
        """One line for each event of a trace: its name, the state after it, and its effects."""
        s = abstract(initial(self.settings))
        for event in trace:
            after, effects = self.machine.step(s, event)
            did = ", ".join(type(effect).__name__ for effect in effects)
            yield f"{_name(event):<42} {describe(after)}{'  ' + did if did else ''}"
            s = abstract(after, self.scope.late_turns)


_TURNS = slice(State._fields.index("turn"), State._fields.index("answered") + 1)
_SEEN: dict[object, tuple[str, ...]] = {}


def _seen(s: Any) -> tuple[str, ...]:
    """What each view shows for this state. The results are cached by the leaves, because a view depends only on
    them."""
    key = (s.link, s.user, s.voice, s.reply, tuple(job.kind for job in s.jobs))
    found = _SEEN.get(key)
    if found is None:
        found = _SEEN[key] = tuple(view.see(s.unwatched()) for view in VIEWS.values())
    return found


def _may_rest(s: State) -> bool:
    """May the conversation stay in this state for ever? Yes, if it is idle, if it is paused, or if the link is up and
    nothing is left to do."""
    return s.link in (Link.IDLE, Link.SUSPENDED) or (s.link is Link.UP and is_at_rest(s))


def _name(event: Event) -> str:
    if isinstance(event, TimerFired):
        return f"timer {event.timer.value}"
    shown = (
        f"{name}={getattr(value, 'value', value)}"
        for name in (field.name for field in fields(event))
        if name not in ("at", "seq", "reply", "voice", "session", "content", "chars", "confidence_pct")
        for value in (getattr(event, name),)
    )
    return f"{type(event).__name__}({', '.join(shown)})"
