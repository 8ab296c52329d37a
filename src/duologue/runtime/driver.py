"""The driver: passes each event to the state machine as one step, and fires the state machine's deadlines.

A posted event is processed immediately, before `post` returns, and its effects are performed within the same step.
Only events that are posted during a step are queued and processed after it. Rule: an event gets its time, its
sequence number and the current ids when it is processed, never earlier.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from threading import get_ident
from typing import Any, NamedTuple, TypeAlias

from duologue.core.errors import DuologueError, InvalidEvent
from duologue.core.events import EVENTS, Event, TimerFired
from duologue.core.machine import MACHINE, Machine
from duologue.core.settings import Settings
from duologue.core.state import State, initial, next_deadline, next_due
from duologue.core.step_record import StepRecord
from duologue.observe.tracebacks import root_of
from duologue.ports.failure import ServiceError

INBOX_MAX = 1_000  # events posted within one step; more means that a listener never stops posting
FIRINGS_MAX = 1_000
STEPS_MAX = 5_000  # steps within one call of `post`
LATE_MS = 250

Perform: TypeAlias = Callable[[StepRecord], None]
ReportFailure: TypeAlias = Callable[[str, BaseException], None]

_CURRENT = {"session": "session_id", "reply": "reply_id", "voice": "voice_id", "turn": "turn", "onset": "onset"}
_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in EVENTS}
# For each kind of event: does it carry a sequence number, and which of its fields are current ids?
_FILLED = {
    kind: ("seq" in names, tuple((name, _CURRENT[name]) for name in names if name in _CURRENT))
    for kind, names in _NAMES.items()
}


class RaisedFailure(NamedTuple):
    """An exception, when it was raised, and the part that raised it."""

    at: int
    where: str
    failure: BaseException


class InboxFull(DuologueError):
    """Too many events wait to be processed. Probably a listener posts a new event for every event that it gets."""


class Driver:
    """Holds the state of one conversation, and changes it with one step of the state machine for each event."""

    def __init__(
        self,
        settings: Settings,
        perform: Perform,
        report_failure: ReportFailure,
        machine: Machine = MACHINE,
        start: State | None = None,
    ) -> None:
        self._state: State = start or initial(settings)
        self._perform = perform
        self._report_failure = report_failure
        self._machine = machine
        self._inbox: list[tuple[type[Event], dict[str, Any]]] = []  # nearly always empty
        self._busy = False
        self._closed = False
        self._seq = self.state.seq
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()
        self._epoch = self._loop.time() - self.state.at / 1000
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_due = 0
        self._was_late = False
        self._other_due: Callable[[], int | None] = lambda: None
        self._wake_other: Callable[[], None] = lambda: None

    @property
    def state(self) -> State:
        """The state of the conversation. Only a step of the state machine changes it."""
        return self._state

    def merge(self, next_due: Callable[[], int | None], wake: Callable[[], None]) -> None:
        """Drive a second state machine too. `next_due` returns the time at which that machine is due, or None, and
        `wake` is called at that time. If both machines are due at the same time, the second one is woken first."""
        self._other_due, self._wake_other = next_due, wake

    def now(self) -> int:
        """Milliseconds since the conversation was created."""
        return max(self._state.at, round((self._loop.time() - self._epoch) * 1000))

    def post(self, kind: type[Event], **given: Any) -> None:
        """Make an event of this kind and process it. `given` are fields of the event. The driver adds the time. It also
        adds the sequence number and the ids, if they aren't given."""
        if self._closed:
            return
        if get_ident() != self._thread:
            self._loop.call_soon_threadsafe(partial(self.post, kind, **given))
            return
        if len(self._inbox) >= INBOX_MAX:
            raise InboxFull(
                f"{INBOX_MAX} events were posted during one step, the newest is {kind.__name__}: "
                "a listener must not post a new event for every event that it gets"
            )
        self._inbox.append((kind, given))
        if not self._busy:
            self._drain()

    @property
    def is_busy(self) -> bool:
        """Is a step running? Events that are posted while a step is running are processed after it."""
        return self._busy

    @property
    def is_closed(self) -> bool:
        return self._closed

    @property
    def is_other_thread(self) -> bool:
        """Is the caller in a different thread from the one that runs the conversation?"""
        return get_ident() != self._thread

    def call_soon(self, act: Callable[[], None]) -> None:
        """Call `act` in the conversation's thread, after the current step."""
        (self._loop.call_soon_threadsafe if self.is_other_thread else self._loop.call_soon)(act)

    def skip_to_deadline(self) -> None:
        """Make the next deadline due now. This is for a restored conversation: its deadline has passed while no process
        ran the conversation."""
        deadline = next_deadline(self.state)
        if deadline is not None:
            self._epoch = min(self._epoch, self._loop.time() - deadline.due / 1000)
            self._wake()

    def close(self) -> None:
        """Stop the driver. Later events and deadlines are ignored."""
        self._closed = True
        self._inbox.clear()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    # -- Steps

    def _drain(self) -> None:
        self._busy = True
        try:
            for _ in range(STEPS_MAX):
                if not self._inbox:
                    break
                self._take(*self._inbox.pop(0))
            else:
                self._inbox.clear()
                self._report_failure("inbox", InboxFull(f"{STEPS_MAX} steps in a row: a listener posts without end"))
        finally:
            self._busy = False
            self.set_alarm()

    def _take(self, kind: type[Event], given: dict[str, Any]) -> None:
        before = self._state
        try:
            event = self.make(kind, given)
            d = self._machine.advance(before, event)
        except (DuologueError, TypeError, KeyError) as failure:  # a wrong event must not end the conversation
            self._report_failure(kind.__name__, failure)
            return
        if d is None:
            record = StepRecord(event, before, before, (), ())
        else:
            self._state = after = d.build()
            record = StepRecord(event, before, after, tuple(d.effects), tuple(d.fired))
        try:
            self._perform(record)
        except (Exception, asyncio.CancelledError) as failure:  # noqa: BLE001 - the sender of the event isn't at fault
            self._report_failure(kind.__name__, failure)

    def make(self, kind: type[Event], given: dict[str, Any]) -> Event:
        """Make an event of this kind with the current time. A sequence number and ids that aren't given are added."""
        is_counted, ids = _FILLED[kind]
        given["at"] = self.now()
        if is_counted and "seq" not in given:
            self._seq += 1
            given["seq"] = self._seq
        for name, current in ids:
            if name not in given:
                given[name] = getattr(self._state, current)
        return kind(**given)

    def set_alarm(self) -> None:
        """Schedule a wake-up for the next deadline. If a wake-up is already scheduled at that time or earlier, keep it:
        it will schedule the next one."""
        if self._closed or self._busy:
            return
        due = self._next_due()
        if due is None or (self._alarm is not None and self._alarm_due <= due):
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_due = max(due, self.now())
        self._alarm = self._loop.call_at(self._epoch + self._alarm_due / 1000, self._wake)

    def _next_due(self) -> int | None:
        due, other = next_due(self._state), self._other_due()
        if due is None or other is None:
            return other if due is None else due
        return min(due, other)

    def _wake(self) -> None:
        self._alarm = None
        if self.now() - self._alarm_due > LATE_MS and not self._was_late:
            # The event loop was blocked. Events that arrived meanwhile are processed before any deadline fires.
            self._was_late = True
            self._alarm = self._loop.call_later(0.01, self._wake)
            return
        self._was_late = False
        for _ in range(FIRINGS_MAX):
            due = self._next_due()
            if due is None or due > self.now() or self._closed:
                break
            if due == self._other_due():
                self._wake_other()
            elif (deadline := next_deadline(self._state)) is not None:
                self.post(TimerFired, timer=deadline.timer, due=deadline.due, call=deadline.call)
        self.set_alarm()


def failure_text(failure: BaseException) -> str:
    """A text about this failure for the log. The exception's own message is included only if Duologue wrote it, because
    a service's message may contain words of the conversation or secrets."""
    name = type(failure).__name__
    own = isinstance(failure, InvalidEvent | InboxFull) or getattr(failure, "is_own", False)
    if not own and isinstance(failure, ServiceError):
        what = f"{name}: {getattr(failure.error, 'value', 'unknown class')}"
        root = root_of(failure)
        return what if root is failure else f"{what} ({type(root).__name__})"
    return f"{name}: {failure}" if own else name
