"""Runs the hearing machine and the conversation machine together, in the same way as the runtime does, but without a
runtime.

An input of the hearing machine leads to intents. Each intent becomes an event, and each step of the conversation
machine is passed back to the hearing machine, whose new intents are processed before the remaining intents of the
input. Rule: the order of events is the order in `runtime.hearing` and `runtime.driver`, and nothing here decides
anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypeAlias

from duologue.core import events as ev
from duologue.core.errors import DuologueError
from duologue.core.machine import MACHINE, Machine
from duologue.core.state import State, next_deadline
from duologue.core.step_record import StepRecord
from duologue.hearing import inputs as inp
from duologue.hearing.intents import Intent, event_of
from duologue.hearing.machine import HEARING, HearingMachine
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.state import HearingState, initial_hearing, next_due
from duologue.ports.ears import Heard
from duologue.turns.completeness import Completeness

STEPS_MAX = 200  # steps of the conversation machine that one stimulus may cause

_CURRENT = {"session": "session_id", "reply": "reply_id", "voice": "voice_id", "turn": "turn", "onset": "onset"}
_FIELDS = {kind: frozenset(one.name for one in fields(kind)) for kind in ev.EVENTS}


class ProductState(NamedTuple):
    """Both machines at one moment: the hearing machine's state (which contains the conversation machine's state), the
    newest sequence number, and the time."""

    hearing: HearingState
    seq: int = 0
    at: int = 0

    @property
    def core(self) -> State:
        return self.hearing.core


@dataclass(frozen=True, slots=True)
class Posted:
    """An event that the program, the line or the brain causes. Fields that aren't given are filled in."""

    kind: type[ev.Event]
    given: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Time passes until the earliest due time of the two machines. With `ms`, only this much time passes, and nothing
    is due."""

    ms: int = 0


@dataclass(frozen=True, slots=True)
class OldReplyHeard:
    """A late report that comes after the line was lost. It says that the user has heard the answer to the oldest
    request whose turns are still known."""


@dataclass(frozen=True, slots=True)
class NewestReplyAsks:
    """A report that the newest reply contains a question. If there is no reply yet, the report is about the first
    reply. `calls` are the jobs that want to know the answer. With `is_aside`, the agent asks by itself, such as "Are
    you still there?"."""

    calls: tuple[int, ...] = ()
    is_aside: bool = False


@dataclass(frozen=True, slots=True)
class WordsJudged:
    """The brain's judgement of how complete the words of the newest turn are, as far as they are known now."""

    completeness: Completeness


Stimulus: TypeAlias = Heard | inp.Input | Posted | TimePassed | OldReplyHeard | NewestReplyAsks | WordsJudged


class ToldStep(NamedTuple):
    """A step of the conversation machine, and the intent that caused it. The intent is None if something else caused
    the step."""

    record: StepRecord
    intent: Intent | None


class ProductStep(NamedTuple):
    """Everything that one stimulus caused."""

    before: ProductState
    stimulus: Stimulus
    after: ProductState
    steps: tuple[ToldStep, ...]
    failures: tuple[str, ...]  # events that the conversation machine refused


def begin_product(core: State, at: int = 0) -> ProductState:
    """The state of the hearing machine and the conversation machine before anything was heard."""
    return ProductState(initial_hearing(core), core.seq, at)


@dataclass(frozen=True, slots=True)
class HearingProduct:
    """The hearing machine and the conversation machine, with one policy."""

    policy: HearingPolicy = field(default_factory=HearingPolicy)
    hearing: HearingMachine = HEARING
    machine: Machine = MACHINE

    def take(self, s: ProductState, stimulus: Stimulus) -> ProductStep:
        """Process one stimulus to its end."""
        run = _Run(self, s)
        if isinstance(stimulus, TimePassed):
            run.pass_time(stimulus.ms)
        elif isinstance(stimulus, Posted):
            run.post(stimulus.kind, dict(stimulus.given), None)
        elif isinstance(stimulus, OldReplyHeard):
            given = (said.given_in for said in s.hearing.words.turns if said.given_in)
            run.give(inp.HeardLate(s.at, min(given, default=0)))
        elif isinstance(stimulus, NewestReplyAsks):
            run.give(inp.AgentAsks(s.at, max(1, s.core.reply_id), stimulus.calls, stimulus.is_aside))
        elif isinstance(stimulus, WordsJudged):
            said = s.hearing.words.of(s.core.turn)
            run.give(inp.TextJudged(s.at, said.turn, said.gist, stimulus.completeness))
        else:
            run.give(_input_of(stimulus, s.at))
        after = ProductState(run.state, run.seq, run.at)
        return ProductStep(s, stimulus, after, tuple(run.steps), tuple(run.failures))

    def next_due(self, s: ProductState) -> int | None:
        """The earliest due time of both machines; None if neither machine has one."""
        deadline, other = next_deadline(s.core), next_due(self.policy, s.hearing)
        return min((due for due in (deadline and deadline.due, other) if due is not None), default=None)

    def replay(self, s: ProductState, stimuli: Iterator[Stimulus] | list[Stimulus]) -> Iterator[ProductStep]:
        """Process these stimuli one after another."""
        for stimulus in stimuli:
            step = self.take(s, stimulus)
            yield step
            s = step.after


def _input_of(stimulus: Any, at: int) -> inp.Input:
    if type(stimulus).__module__ == inp.__name__:
        return replace(stimulus, at=at)  # type: ignore[no-any-return]
    return inp.Reported(at, stimulus)


class _Run:
    """The processing of one stimulus: the current state, and the steps so far. Mutable, and never shared."""

    def __init__(self, product: HearingProduct, s: ProductState) -> None:
        self.product = product
        self.state, self.seq, self.at = s
        self.steps: list[ToldStep] = []
        self.failures: list[str] = []
        self._inbox: deque[tuple[type[ev.Event], dict[str, Any], Intent | None]] = deque()

    def pass_time(self, ms: int) -> None:
        if ms:
            self.at += ms
            return
        deadline, other = next_deadline(self.state.core), next_due(self.product.policy, self.state)
        if other is not None and (deadline is None or other <= deadline.due):
            self.at = max(self.at, other)
            self.give(inp.Woke(self.at))
        elif deadline is not None:
            self.at = max(self.at, deadline.due)
            given = {"timer": deadline.timer, "due": deadline.due, "call": deadline.call}
            self.post(ev.TimerFired, given, None)

    def give(self, i: inp.Input) -> None:
        """Pass an input to the hearing machine, and its intents to the conversation machine."""
        product = self.product
        self.state, intents = product.hearing.step(product.policy, self.state, i)
        for intent in intents:
            self._tell(intent)
            self._drain()

    def _tell(self, intent: Intent) -> None:
        kind, given = event_of(intent)
        self._inbox.append((kind, given, intent))

    def post(self, kind: type[ev.Event], given: dict[str, Any], intent: Intent | None) -> None:
        self._inbox.append((kind, given, intent))
        self._drain()

    def _drain(self) -> None:
        while self._inbox:
            if len(self.steps) > STEPS_MAX:
                self.failures.append(f"more than {STEPS_MAX} steps follow from one stimulus")
                self._inbox.clear()
                return
            self._process(*self._inbox.popleft())

    def _process(self, kind: type[ev.Event], given: dict[str, Any], intent: Intent | None) -> None:
        product, before = self.product, self.state.core
        try:
            event = self._make(kind, given)
            d = product.machine.advance(before, event)
        except DuologueError as failure:
            self.failures.append(f"{kind.__name__}: {failure}")
            return
        if d is None:
            self.steps.append(ToldStep(StepRecord(event, before, before, (), ()), intent))
            return
        record = StepRecord(event, before, d.build(), tuple(d.effects), tuple(d.fired))
        self.steps.append(ToldStep(record, intent))
        self.state, followed = product.hearing.step(product.policy, self.state, inp.CoreStepped(event.at, record))
        for told in followed:
            self._tell(told)

    def _make(self, kind: type[ev.Event], given: dict[str, Any]) -> ev.Event:
        wanted, core = _FIELDS[kind], self.state.core
        given = {"at": max(self.at, core.at), **given}
        if "seq" in wanted and "seq" not in given:
            self.seq += 1
            given["seq"] = self.seq
        for name, current in _CURRENT.items():
            if name in wanted and name not in given:
                given[name] = getattr(core, current)
        return kind(**given)
