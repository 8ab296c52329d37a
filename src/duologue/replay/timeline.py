"""The timeline of a conversation: which states the conversation was in, for how long, and why.

Converts steps, from a running conversation or from a replay, to small immutable values. Rule: a timeline contains
states, causes and times of one conversation, but never what was said.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from duologue.core.leaves import JobKind, Link
from duologue.core.state import State
from duologue.core.views import PHASE, View
from duologue.observe.metrics import Meter, Metrics
from duologue.observe.view_history import TRANSITIONS_MAX, cause_of

from .journal import StepRecord

REGIONS = ("link", "user", "voice", "reply", "jobs")

_JOBS_FOREMOST_FIRST = (JobKind.DELEGATED, JobKind.TOOL, JobKind.DISPATCHED)


class Visit(NamedTuple):
    """One stay in a state of a view, or in a leaf (innermost state) of a region: when it began, how long it lasted, and
    what caused it."""

    state: str
    since_ms: int  # counted from the start of the conversation
    duration_ms: int
    cause: str  # the event that led here, or `timer:` and the deadline

    @property
    def end_ms(self) -> int:
        return self.since_ms + self.duration_ms


class Transition(NamedTuple):
    """One move of the view from one state to another."""

    source: str
    target: str
    cause: str
    at_ms: int


class TimelineLane(NamedTuple):
    """All stays in the leaves (innermost states) of one region. If several jobs run at the same time, their kinds are
    joined with a +."""

    region: str
    visits: tuple[Visit, ...]


class Timeline(NamedTuple):
    """The timeline of one conversation."""

    view: str
    session_ms: int = 0  # from the start of the conversation to its end, or to now
    visits: tuple[Visit, ...] = ()
    lanes: tuple[TimelineLane, ...] = ()
    metrics: Metrics = Metrics()

    @property
    def current(self) -> Visit | None:
        return self.visits[-1] if self.visits else None

    @property
    def previous(self) -> Visit | None:
        return self.visits[-2] if len(self.visits) > 1 else None

    @property
    def turns(self) -> int:
        return self.metrics.turns

    @property
    def length_ms(self) -> int:
        """The length of the time axis in milliseconds. It is at least 1, so that other code can divide by it."""
        return max(1, self.visits[-1].end_ms) if self.visits else 1

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The last transitions of the view, oldest first, at most TRANSITIONS_MAX."""
        moves = [Transition(old.state, new.state, new.cause, new.since_ms) for old, new in pairwise(self.visits)]
        return tuple(moves[-TRANSITIONS_MAX:])

    def to_json(self) -> dict[str, Any]:
        """The timeline as plain values for `json.dumps`."""
        return {
            "view": self.view,
            "state": self.current and self.current._asdict(),
            "previous": self.previous and self.previous._asdict(),
            "session_ms": self.session_ms,
            "turns": self.turns,
            "visits": [visit._asdict() for visit in self.visits],
            "lanes": {lane.region: [visit._asdict() for visit in lane.visits] for lane in self.lanes},
            "transitions": [transition._asdict() for transition in self.transitions],
            "metrics": self.metrics.to_json(),
        }


def read_timeline(records: Iterable[StepRecord], view: View = PHASE, now_ms: int | None = None) -> Timeline:
    """The timeline of the newest conversation in these steps. `now_ms` is the current time on the clock of the events.
    If it is later than the last event, the timeline is extended to `now_ms`."""
    reader = _Reader(view)
    for record in records:
        reader.add(record)
    return reader.timeline(now_ms)


class _Track:
    """Collects the states of one lane, each with its name, start and cause."""

    def __init__(self, since: int) -> None:
        self._since = since
        self._entries: list[tuple[str, int, str]] = []

    def see(self, name: str, at: int, cause: str) -> None:
        if not self._entries or self._entries[-1][0] != name:
            self._entries.append((name, at - self._since, cause))

    def visits(self, end: int) -> tuple[Visit, ...]:
        ends = [at for _, at, _ in self._entries[1:]] + [end - self._since]
        return tuple(
            Visit(name, at, until - at, cause) for (name, at, cause), until in zip(self._entries, ends, strict=True)
        )


class _Reader:
    """Reads steps one after the other. When a new conversation starts, everything from the earlier conversation is
    dropped."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._began: int | None = None  # None until a conversation starts
        self._newest = 0

    def _begin(self, at: int) -> None:
        self._began = at
        self._ended: int | None = None
        self._meter = Meter()
        self._states = _Track(at)
        self._lanes = {region: _Track(at) for region in REGIONS}

    def add(self, record: StepRecord) -> None:
        event, before, after = record.event, record.before, record.after
        self._newest = max(self._newest, event.at)
        if after is before:
            return
        if before.link is Link.IDLE and after.link is not Link.IDLE:
            self._begin(event.at)
        if self._began is None:
            return
        if after.link is Link.IDLE and before.link is not Link.IDLE:
            self._ended = event.at
        cause = cause_of(event)
        self._meter.add(record)
        self._states.see(self._view.see(after), event.at, cause)
        for region, leaf in _leaves(after):
            self._lanes[region].see(leaf, event.at, cause)

    def timeline(self, now_ms: int | None) -> Timeline:
        if self._began is None:
            return Timeline(self._view.name)
        end = max(self._newest, now_ms or 0)
        return Timeline(
            view=self._view.name,
            session_ms=(end if self._ended is None else self._ended) - self._began,
            visits=self._states.visits(end),
            lanes=tuple(TimelineLane(region, track.visits(end)) for region, track in self._lanes.items()),
            metrics=self._meter.metrics(),
        )


def _leaves(s: State) -> tuple[tuple[str, str], ...]:
    kinds = [job.kind for job in s.jobs]
    jobs = [kind.value for kind in _JOBS_FOREMOST_FIRST for _ in range(kinds.count(kind))]
    leaves = (s.link.value, s.user.value, s.voice.value, s.reply.value, "+".join(jobs) or "none")
    return tuple(zip(REGIONS, leaves, strict=True))
