"""Plays a scripted call on the real conversation machine: sends events, advances time, fires deadlines.

Records every event with the state before and after it. Rule: the script says whether each event changes the state. If
the machine behaves differently, an assertion fails, because a script that no longer fits the machine would measure
something else.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import Any, NamedTuple

from duologue.core.events import Event, TimerFired
from duologue.core.leaves import Timer
from duologue.core.machine import step
from duologue.core.settings import profile
from duologue.core.state import State, initial, next_deadline
from duologue.core.views import LIFECYCLE
from duologue.core.views.view import Move


class EventKind(Enum):
    """What an event does to the machine. Either it changes the state, or it is ignored, because it is late or repeated
    (STALE) or because it has no meaning in the current state (MEANINGLESS)."""

    CHANGE = "change"
    STALE = "stale"  # refers to something that is over, or is a repetition
    MEANINGLESS = "meaningless"  # the state has no row for the event


class PlayedStep(NamedTuple):
    """One event, with the state before it and the state after it."""

    before: State
    event: Event
    after: State
    kind: EventKind

    @property
    def changed(self) -> bool:
        """Did the event change the state? If the machine ignores an event, it returns the same state object."""
        return self.after is not self.before


class PlayedCall(NamedTuple):
    """All steps of a call. The machine is idle before the first step and after the last one."""

    moments: tuple[PlayedStep, ...]

    @property
    def events(self) -> list[Event]:
        return [moment.event for moment in self.moments]

    @property
    def transitions(self) -> list[PlayedStep]:
        return [moment for moment in self.moments if moment.changed]

    @property
    def ignored(self) -> list[PlayedStep]:
        return [moment for moment in self.moments if not moment.changed]

    @property
    def lifecycle(self) -> list[Move]:
        """All moves of the lifecycle view in this call, as (source, target). Steps that change the machine's state, but
        not the state that this view shows, are left out."""
        seen = [(LIFECYCLE.see(moment.before), LIFECYCLE.see(moment.after)) for moment in self.moments]
        return [(source, target) for source, target in seen if source != target]

    def shown_when_ignored(self) -> list[str]:
        """For each ignored event, in order: the state that the lifecycle view showed at that time."""
        return [LIFECYCLE.see(moment.before) for moment in self.ignored]

    def mix(self) -> dict[str, Any]:
        """How many events of each kind and type the call has."""
        kinds = Counter(moment.kind for moment in self.moments)
        names = Counter(type(event).__name__ for event in self.events)
        return {
            "events": len(self.moments),
            "transitions": len(self.transitions),
            "ignored": len(self.ignored),
            "stale": kinds[EventKind.STALE],
            "meaningless": kinds[EventKind.MEANINGLESS],
            "lifecycle_moves": len(self.lifecycle),
            "by_event": dict(names.most_common()),
        }


class CallPlayer:
    """Drives the machine. A script calls these methods, one for each step of a scene."""

    def __init__(self) -> None:
        self.state = initial(profile("confirm"))
        self.at = 0
        self.seq = 0
        self.moments: list[PlayedStep] = []

    def fill(self, event: type[Event], given: dict[str, Any]) -> Event:
        """Make an event of this class with the current time and ids. Fields in `given` override these values."""
        s = self.state
        current = {
            "at": self.at,
            "seq": self.seq,
            "session": s.session_id,
            "reply": s.reply_id,
            "voice": s.voice_id,
            "call": s.call_id,
            "turn": s.turn,
            "onset": s.onset,
        }
        fields = event.__dataclass_fields__
        return event(**{**{name: value for name, value in current.items() if name in fields}, **given})

    def give(self, event: Event, kind: EventKind) -> None:
        """Send an event to the machine and record the step. Fails if the event changes the state although `kind` says
        that it is ignored, or the other way round."""
        after, _ = step(self.state, event)
        moment = PlayedStep(self.state, event, after, kind)
        assert moment.changed == (kind is EventKind.CHANGE), f"{event} isn't {kind.value} in {self.state}"
        self.moments.append(moment)
        self.state = after

    def change(self, event: type[Event], **given: Any) -> None:
        """Send a new event, which must change the state."""
        self.seq += 1
        self.give(self.fill(event, given), EventKind.CHANGE)

    def stale(self, event: type[Event], **given: Any) -> None:
        """Send a late or repeated event, which must not change the state. If `seq` isn't given, the event has the
        sequence number of the last event."""
        self.give(self.fill(event, given), EventKind.STALE)

    def meaningless(self, event: type[Event], **given: Any) -> None:
        """Send a new event, which the machine must ignore in its current state."""
        self.seq += 1
        self.give(self.fill(event, given), EventKind.MEANINGLESS)

    def wait(self, for_ms: int) -> None:
        """Advance the time by `for_ms`. Fires the timers of cues that are due before then. Fails if any other deadline
        is due before then."""
        until = self.at + for_ms
        while (deadline := next_deadline(self.state)) is not None and deadline.due < until:
            assert deadline.timer is Timer.CUE, f"{deadline} passed before {until}"
            self.fire(Timer.CUE)
        self.at = until

    def fire(self, timer: Timer) -> None:
        """Advance the time to the deadline of this timer and fire it. Fires the timers of cues that are due before
        that. Fails if any other deadline comes first."""
        deadline = next_deadline(self.state)
        if deadline is not None and deadline.timer is Timer.CUE is not timer:
            self.fire(Timer.CUE)
            self.fire(timer)
            return
        assert deadline is not None, f"no deadline is armed; expected {timer}"
        assert deadline.timer is timer, f"{deadline.timer} comes before {timer}"
        self.at = deadline.due
        self.change(TimerFired, timer=timer, due=deadline.due, call=deadline.call)
