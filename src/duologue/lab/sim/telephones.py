"""The telephones of a simulated network: what happens at each number.

Rule: a telephone is data. A number that isn't in the book doesn't exist, and the carrier refuses to call it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from .call_script import Step


class AnsweredBy(Enum):
    """Who answers when a telephone is called: a person, an answering machine, or no one, because the telephone is busy
    or isn't picked up."""

    PERSON = "person"
    MACHINE = "machine"
    BUSY = "busy"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True)
class Telephone:
    """One telephone. `steps` is what the person or the answering machine does on the stream after answering."""

    answer: AnsweredBy = AnsweredBy.PERSON
    steps: tuple[Step, ...] = ()
    ring_ms: int = 200
    talk_ms: int = 300  # how long a person talks to a caller who was passed on, without the agent
    detected: str = ""  # what the carrier's machine detection tells, if it was asked for, such as machine_end_beep, ...
    detected_ms: int = 3_000  # ... and how long after the answer


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """Something that happened in the network, for a timeline."""

    at_ms: int
    who: str  # a number, or carrier
    what: str


@dataclass
class NetworkLog:
    """Everything that has happened in the network, in order. `now` returns the time in ms. `heard` is called with each
    event as soon as it happens."""

    now: Callable[[], int]
    events: list[NetworkEvent] = field(default_factory=list)
    heard: Callable[[str, str], None] = lambda who, what: None  # noqa: ARG005

    def note(self, who: str, what: str) -> None:
        self.events.append(NetworkEvent(self.now(), who, what))
        self.heard(who, what)

    def of(self, who: str) -> list[str]:
        """What has happened at this number."""
        return [event.what for event in self.events if event.who == who]
