"""The steps of a conversation's state machine for the debug view, and the journal of a running conversation.

Only the events and the state before every 100th event are kept in memory, and older events are kept compressed. The
state machine is pure, so all steps can be computed again from these, in any thread. Rule: nothing here contains words
that were said, and the number of events is limited.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from duologue.core.codec import event_to_json, settings_to_json
from duologue.core.errors import DuologueError
from duologue.core.events import Event
from duologue.core.leaves import JobKind, Link, Reply, User, Voice
from duologue.core.machine import MACHINE
from duologue.core.settings import Settings
from duologue.core.state import State, floor, initial, next_deadline
from duologue.core.step_record import StepRecord
from duologue.core.views import VIEWS, phase_of
from duologue.observe.journal_writer import JournalWriter
from duologue.observe.view_history import cause_of

EVENTS_MAX = 200_000
STEPS_MAX = 5_000  # at most this many steps of a replayed journal are shown
LIVE_STEPS_MAX = 1_000  # the same when the debug view of a running conversation is opened
_STRETCH = 100  # events between two stored states; each full stretch is compressed
_REGIONS = {"link": Link, "user": User, "voice": Voice, "reply": Reply, "jobs": JobKind}
_REGION_NAMES = {leaves: name for name, leaves in _REGIONS.items()}


class UntrueJournal(DuologueError):
    """The journal is wrong: its events don't lead to the states that the conversation really had."""


class EventLog:
    """The first EVENTS_MAX events of one conversation, in order. Later events are dropped; then `is_whole` is False."""

    def __init__(self, settings: Settings, earlier: Iterable[Event] = ()) -> None:
        self._settings = settings
        # The full stretches, compressed, and the events after them. Replaced as a whole, because other threads read it.
        self._stretches: tuple[tuple[bytes, ...], list[Event]] = ((), [])
        self._count = 0
        for event in earlier:
            self._append(event)
        self._marks: dict[int, State] = {
            0: initial(settings)
        }  # the state before each stretch, by the number of the stretch
        self.is_whole = True
        self._newest = (-1, initial(settings))  # how many events there were, and the real state after them

    def __len__(self) -> int:
        return self._count

    def add(self, record: StepRecord) -> None:
        if self._count >= EVENTS_MAX:
            self.is_whole = False
            return
        if self._count % _STRETCH == 0:
            self._marks[self._count // _STRETCH] = record.before
        self._append(record.event)
        self._newest = (self._count, record.after)

    def _append(self, event: Event) -> None:
        full, open_ = self._stretches
        open_.append(event)
        self._count += 1
        if len(open_) == _STRETCH:
            self._stretches = ((*full, zlib.compress(pickle.dumps(open_), 1)), [])

    def _read(self, first: int = 0, after: int | None = None) -> list[Event]:
        """The events from stretch number `first` up to, but not including, stretch number `after`. None means up to
        the end."""
        full, open_ = self._stretches
        events: list[Event] = []
        for packed in full[first:after]:
            events += pickle.loads(zlib.decompress(packed))
        return events if after is not None and after <= len(full) else events + open_

    def records(self) -> Iterator[StepRecord]:
        """All steps so far, computed again from the events."""
        return _steps(initial(self._settings), self._read())

    def newest(self, count: int, upto: int) -> list[StepRecord]:
        """The last `count` steps that are worth showing, among the first `upto` steps of the conversation."""
        found: list[StepRecord] = []
        for stretch in range((upto - 1) // _STRETCH, -1, -1):
            events = self._read(stretch, stretch + 1)[: upto - stretch * _STRETCH]
            found = [record for record in _steps(self._mark(stretch), events) if is_worth_showing(record)] + found
            if len(found) >= count:
                break
        return found[-count:]

    def since(self, start: int) -> list[StepRecord]:
        """All steps that are worth showing, beginning with step number `start`."""
        stretch = start // _STRETCH
        again = list(_steps(self._mark(stretch), self._read(stretch)))
        return [record for record in again[start - stretch * _STRETCH :] if is_worth_showing(record)]

    def _mark(self, stretch: int) -> State:
        """The state of the machine before this stretch (a stretch is 100 events in a row). If that state isn't known,
        because the events come from another process, it is computed from the events."""
        known = max(number for number in tuple(self._marks) if number <= stretch)
        for number in range(known, stretch):
            s = self._marks[number]
            for record in _steps(s, self._read(number, number + 1)):
                s = record.after
            self._marks[number + 1] = s
        return self._marks[stretch]

    def journal(self, is_over: bool) -> str:
        """The journal as text. The journal ends with a closing line only if the conversation has ended and no event is
        missing. Raises UntrueJournal if the events don't lead to the states that the conversation really had."""
        out = io.StringIO()
        writer = JournalWriter(out, self._settings)
        after = initial(self._settings)
        events, (newest, state) = self._read(), self._newest
        for number, record in enumerate(_steps(after, events)):
            if number % _STRETCH == 0 and self._marks.get(number // _STRETCH, record.before) != record.before:
                raise UntrueJournal(f"the events before number {number + 1} don't lead to the real state at that time")
            after = record.after
            writer.add(record.event, after)
        if newest == len(events) and after != state:
            raise UntrueJournal("the events don't lead to the state that the conversation has now")
        if is_over and self.is_whole:
            writer.close()
        return out.getvalue()


def _steps(s: State, events: Iterable[Event]) -> Iterator[StepRecord]:
    for event in events:
        d = MACHINE.advance(s, event)
        after = s if d is None else d.build()
        yield StepRecord(event, s, after, tuple(d.effects) if d else (), tuple(d.fired) if d else ())
        s = after


def is_worth_showing(record: StepRecord) -> bool:
    """Did this step have an effect, or change a region of the state machine (link, user, voice, reply or jobs)? Most
    steps that only report how much was played did neither."""
    return bool(record.fired) and (bool(record.effects) or _regions(record.before) != _regions(record.after))


# -- As JSON


def table() -> dict[str, Any]:
    """The rows and rules of the state machine, and the possible states of each of its regions, for the debug view."""
    rows = [
        {"id": index, "region": _REGION_NAMES[type(row.sources[0])], "name": row.name, "why": row.why}
        for index, row in enumerate(MACHINE.rows)
    ]
    rules = [
        {"id": -1 - index, "region": "rule", "name": rule.name, "why": rule.why}
        for index, rule in enumerate(MACHINE.rules)
    ]
    return {
        "rows": rows + rules,
        "regions": {name: [leaf.value for leaf in kind] for name, kind in _REGIONS.items()},
    }


def settings_of(settings: Settings) -> dict[str, Any]:
    return settings_to_json(settings)


def step_to_json(record: StepRecord) -> dict[str, Any]:
    s = record.after
    fields = event_to_json(record.event)
    name = fields.pop("type")
    at = fields.pop("at")
    return {
        "at": at,
        "event": name,
        "cause": cause_of(record.event),
        "fields": fields,
        "fired": list(record.fired),
        "effects": [type(effect).__name__ for effect in record.effects],
        "regions": _regions(s),
        "floor": floor(s),
        "phase": phase_of(s),
        "views": {name: view.see(s) for name, view in VIEWS.items()},
        "turns": {"answered": s.answered, "asked": s.asked, "said": s.said, "turn": s.turn},
        "timers": _timers(s),
        "ignored": s is record.before,
    }


def steps_to_json(records: Iterable[StepRecord]) -> list[dict[str, Any]]:
    return [step_to_json(record) for record in records]


def _regions(s: State) -> dict[str, str]:
    jobs = ", ".join(job.kind.value for job in s.jobs)
    return {
        "link": s.link.value,
        "user": s.user.value,
        "voice": s.voice.value,
        "reply": s.reply.value,
        "jobs": jobs or "none",
    }


def _timers(s: State) -> list[dict[str, Any]]:
    deadline = next_deadline(s)
    return [{"timer": deadline.timer.value, "due": deadline.due}] if deadline is not None else []
