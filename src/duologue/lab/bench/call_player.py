"""The world around the machine, played by a script: events happen, time passes, deadlines fire.

Keeps every event with the state that it met and the state that it left. Rule: the script says of
each event whether it changes anything, and the real machine has to agree, so a script that no longer
fits the machine fails here instead of measuring something else.
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
    """What an event was to the machine."""

    CHANGE = "change"
    STALE = "stale"  # about something that is over, or repeated
    MEANINGLESS = "meaningless"  # nothing here waits for it


class PlayedStep(NamedTuple):
    """One event, with the state that it met and the state that it left."""

    before: State
    event: Event
    after: State
    kind: EventKind

    @property
    def changed(self) -> bool:
        """Did the event change the state? An ignored one leaves the very same object."""
        return self.after is not self.before


class PlayedCall(NamedTuple):
    """A whole call, from idle to idle."""

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
        """The moves of the lifecycle view: far fewer than transitions."""
        seen = [(LIFECYCLE.see(moment.before), LIFECYCLE.see(moment.after)) for moment in self.moments]
        return [(source, target) for source, target in seen if source != target]

    def shown_when_ignored(self) -> list[str]:
        """The lifecycle state that was shown when each ignored event came."""
        return [LIFECYCLE.see(moment.before) for moment in self.ignored]

    def mix(self) -> dict[str, Any]:
        """What the call is made of."""
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
    """Plays the world around the machine: time passes, deadlines fire, services answer."""

    def __init__(self) -> None:
        self.state = initial(profile("confirm"))
        self.at = 0
        self.seq = 0
        self.moments: list[PlayedStep] = []

    def fill(self, event: type[Event], given: dict[str, Any]) -> Event:
        """Make an event about what is current, unless told otherwise."""
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
        after, _ = step(self.state, event)
        moment = PlayedStep(self.state, event, after, kind)
        assert moment.changed == (kind is EventKind.CHANGE), f"{event} is no {kind.value} in {self.state}"
        self.moments.append(moment)
        self.state = after

    def change(self, event: type[Event], **given: Any) -> None:
        """Something new happens."""
        self.seq += 1
        self.give(self.fill(event, given), EventKind.CHANGE)

    def stale(self, event: type[Event], **given: Any) -> None:
        """Something comes late or twice; with `seq` left out it repeats the last number."""
        self.give(self.fill(event, given), EventKind.STALE)

    def meaningless(self, event: type[Event], **given: Any) -> None:
        """Something new happens that nothing here waits for."""
        self.seq += 1
        self.give(self.fill(event, given), EventKind.MEANINGLESS)

    def wait(self, for_ms: int) -> None:
        """Time passes; nothing may fall due meanwhile, or the script is wrong."""
        self.at += for_ms
        deadline = next_deadline(self.state)
        assert deadline is None or deadline.due >= self.at, f"{deadline} passed before {self.at}"

    def fire(self, timer: Timer) -> None:
        """Wait for the next deadline, which must be this one."""
        deadline = next_deadline(self.state)
        assert deadline is not None, f"nothing is armed, not even {timer}"
        assert deadline.timer is timer, f"{deadline.timer} comes before {timer}"
        self.at = deadline.due
        self.change(TimerFired, timer=timer, due=deadline.due, call=deadline.call)
