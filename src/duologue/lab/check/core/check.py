"""Explores the conversation machine: checks every law for every event in every reachable state.

Runs the real `step` on abstract states, one profile at a time. The explorer does not know the rows. It
only records which rows and rules fired. Rule: every violation is reported with a shortest trace to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields

from duologue.core.codec import state_from_json, state_to_json
from duologue.core.draft import Draft
from duologue.core.events import Event, LinkHealed, LinkWobbled, ResumeRequested, SuspendRequested, TimerFired
from duologue.core.leaves import Link
from duologue.core.machine import MACHINE, Machine
from duologue.core.settings import Settings
from duologue.core.state import State, initial, is_at_rest
from duologue.core.views import VIEWS

from ..explore import Graph, can_reach, explore, find_cycle
from . import audible_laws, laws, promises
from .abstract import ID, SOFT, abstract
from .alphabet import fresh, stale, timers
from .laws import CheckedStep, describe
from .promises import PROMISES, Promise
from .scopes import CheckScope
from .sharing import KnownSteps, SharedSteps

_PAUSES = (
    (SuspendRequested(0, 1), ResumeRequested(0, 2)),
    (LinkWobbled(0, 1, ID), LinkHealed(0, 2, ID)),
)


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
    fired: set[int] = field(default_factory=set)
    moves: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: {name: set() for name in VIEWS})
    tested: set[str] = field(default_factory=set)  # promises that applied at least once
    violations: list[Violation] = field(default_factory=list)


def explore_profiles(profiles: Iterable[Settings], scope: CheckScope) -> list[Findings]:
    """Explore these profiles in one scope. A step that is the same in several profiles is made and checked once."""
    profiles = tuple(profiles)
    shared = SharedSteps([scope.narrow(one) for one in profiles])
    return [CoreExplorer(one, scope, shared=shared).run() for one in profiles]


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
        self.found = Findings(
            settings.name,
            scope.name,
            {
                "retries": len(settings.retry_ms),
                "attempts": len(settings.backoff_ms),
                "check_ins": settings.check_ins_max,
                "faults": settings.faults_max,
                "faults_in_a_row": settings.faults_in_a_row_max,
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
        self.found.states = len(self.graph.states)
        self.found.seconds = time.process_time() - began
        return self.found

    # -- One state

    def _successors(self, number: int, s: State) -> Iterator[tuple[Event, State]]:
        known = self.shared.find(s)
        if known is not None:
            yield from self._take_known(number, s, known)
            return
        self.shared.was_read = False
        self._judge_state(number, s)
        self._judge_stale(number, s)
        is_shared = not self.shared.was_read
        steps: list[tuple[Event, State | None]] = []
        for event in (*timers(s), *fresh(s, self.scope)):
            self.shared.was_read = False
            target = self._take(number, s, event)
            if target is not None:
                yield event, target
            if self.shared.was_read or target is not None:
                steps.append((event, None if self.shared.was_read else target))
        if is_shared:
            self.shared.put(s, steps)

    def _take_known(self, number: int, s: State, known: KnownSteps) -> Iterator[tuple[Event, State]]:
        """The steps that another profile has made and checked, and those that only this profile can make."""
        self.found.steps += len(known.events)
        for event, target in zip(known.events, known.targets, strict=True):
            if target is None:
                target = self._take(number, s, event)
            else:
                self._note_timer(number, event, target)
            if target is not None:
                yield event, target

    def _take(self, number: int, s: State, event: Event) -> State | None:
        """Apply one event and check the step. Returns the next state, or None if the event did nothing."""
        self.found.steps += 1
        d = self.machine.advance(s, event)
        if d is None:
            self._judge_promises(number, CheckedStep(s, event, s, ()))
            if type(event) is TimerFired:
                self._report(laws.NEVER_STUCK, f"deadline {event.timer.value} fires and no row handles it", number)
            return None
        self.found.fired.update(d.fired)
        step = CheckedStep(s, event, d.build(), tuple(d.effects))
        self._judge_step(number, step)
        self._judge_views(number, step)
        target = abstract(step.after, self.scope.late_turns)
        self._note_timer(number, event, target)
        return target

    def _note_timer(self, number: int, event: Event, target: State) -> None:
        if type(event) is TimerFired and event.timer not in SOFT:
            self.timer_edges.append((number, target))

    def _judge_stale(self, number: int, s: State) -> None:
        late = stale(s)
        self.found.steps += len(late)
        for event in late:
            if self.machine.advance(s, event) is not None:
                self._report(laws.NOTHING_STALE, f"the stale event {event} changes something", number, event)

    def _judge_state(self, number: int, s: State) -> None:
        for law, message in (*laws.check_state(s), *audible_laws.check_state(s)):
            self._report(law, message, number)
        d = Draft(s, self.machine.owners, 0)
        for rule in self.machine.rules:
            if s.link in rule.links and rule.when(d):
                self._report(laws.RULES_AT_REST, f"rule {rule.name} still applies after the step", number)
        if state_from_json(state_to_json(s), s.settings) != s:
            self._report(laws.PAUSING_CHANGES_NOTHING, "the state differs after a snapshot is saved and loaded", number)
        if s.link is Link.UP:
            for pause, resume in _PAUSES:
                self._judge_pause(number, s, pause, resume)

    def _judge_pause(self, number: int, s: State, pause: Event, resume: Event) -> None:
        paused, first = self.machine.step(s, pause)
        resumed, second = self.machine.step(paused, resume)
        same = abstract(resumed, self.scope.late_turns) == s
        steps = (CheckedStep(s, pause, paused, first), CheckedStep(paused, resume, resumed, second))
        for law, message in laws.check_pause(*steps, same):
            self._report(law, message, number, pause)

    def _judge_step(self, number: int, step: CheckedStep) -> None:
        for law, message in (*laws.check_step(step), *audible_laws.check_step(step)):
            self._report(law, message, number, step.event)
        self._judge_promises(number, step)
        self.found.steps += 1
        if self.machine.advance(step.after, step.event) is not None:
            self._report(laws.IDEMPOTENT, "the same event, applied again, changes something", number, step.event)

    def _judge_views(self, number: int, step: CheckedStep) -> None:
        if step.after[_LEAVES] == step.before[_LEAVES] and step.after.jobs is step.before.jobs:
            return
        before, after = _seen(step.before), _seen(step.after)
        for name, source, target in zip(VIEWS, before, after, strict=True):
            if source != target and (source, target) not in self.found.moves[name]:
                self.found.moves[name].add((source, target))
                if (source, target) not in VIEWS[name].allowed():
                    self._report(laws.VIEWS_ARE_HONEST, f"{name}: {source} -> {target}", number, step.event)

    def _judge_promises(self, number: int, step: CheckedStep) -> None:
        before, event = step.before, step.event
        for name, _, when, then in self.promised.get(promises.trigger_of(event), ()):
            if when(before, event):
                self.found.tested.add(name)
                if not then(step):
                    self._report(laws.PROMISE_IS_KEPT, name, number, event)

    # -- The whole graph

    def _judge_graph(self) -> None:
        states = self.graph.states
        rest = [number for number, s in enumerate(states) if _may_rest(s)]
        reaches = can_reach(self.graph, rest)
        if not all(reaches):
            self._report(laws.NEVER_STUCK, "rest can't be reached from here", reaches.index(0))
        index = self.graph.index
        edges = [(source, index[target]) for source, target in self.timer_edges]
        on_cycle = find_cycle(len(states), edges)
        if on_cycle is not None:
            self._report(laws.NEVER_STUCK, "timers alone lead round in a circle", on_cycle)
        leads_on = {source for source, _ in edges}
        for number, s in enumerate(states):
            if number not in leads_on and not _may_rest(s):
                self._report(
                    laws.EVERY_SENTENCE_ENDS, "without further events, the conversation stays here for ever", number
                )
                break

    # -- Reporting

    def _report(self, law: str, message: str, number: int, event: Event | None = None) -> None:
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


_LEAVES = slice(State._fields.index("link"), State._fields.index("reply") + 1)
_SEEN: dict[object, tuple[str, ...]] = {}


def _seen(s: State) -> tuple[str, ...]:
    """What each view shows for this state. The results are cached by the leaves, because a view depends only on
    them."""
    key = (s.link, s.user, s.voice, s.reply, tuple(job.kind for job in s.jobs))
    found = _SEEN.get(key)
    if found is None:
        found = _SEEN[key] = tuple(view.see(s) for view in VIEWS.values())
    return found


def _may_rest(s: State) -> bool:
    """Rest is idle, an open floor with nothing to do, or a pause that the person asked for."""
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
