"""The state of the exchange of messages with one RTVI client, as one frozen value, and the draft (a working copy) that
one step changes.

Rule: all decisions about the protocol are made from this value alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .acts import RtviAct, SendToClient

VERSION = "2.1.0"  # of the protocol
OLD_MAJOR = 1  # clients of this version get `bot-output` as it was then
MAJORS = (OLD_MAJOR, 2)


@dataclass(frozen=True, slots=True)
class SpokenSegment:
    """A piece of a reply's spoken text: the characters from `start` to `end`. The client was last told that the text
    was heard up to the character `heard`."""

    id: int
    start: int
    end: int
    heard: int

    @property
    def is_heard(self) -> bool:
        return self.heard >= self.end


@dataclass(frozen=True, slots=True)
class GivenCall:
    """A call of a function that the client runs."""

    call: int
    name: str
    result: str | None = None

    @property
    def id(self) -> str:
        return call_id(self.call)


def call_id(call: int) -> str:
    """The id that the client knows for the tool call with this number."""
    return f"call_{call}"


@dataclass(frozen=True, slots=True)
class RtviState:
    """The state of the exchange with one client."""

    about: tuple[tuple[str, str], ...] = ()  # what the client is told about this server
    counted: int = 0  # ids that were given to messages and segments
    ready_id: str = ""  # of the client's `client-ready`; empty: it isn't ready
    version: str = VERSION  # that both sides speak
    has_begun: bool = False
    speaking_turn: int = 0  # the user's turn that the client was told of
    partial: str = ""  # the newest words of it that the client was told
    reply: int = 0  # the newest reply
    is_thinking: bool = False  # the client was told that its text is being made
    spoken: str = ""  # its text so far
    shown: str = ""  # its text that is only shown
    segments: tuple[SpokenSegment, ...] = ()
    voice: int = 0  # that the client was told of; 0: the agent is silent
    is_unspoken: bool = False  # the next answer is only shown
    calls: tuple[GivenCall, ...] = ()
    own_calls: tuple[int, ...] = ()

    @property
    def is_old(self) -> bool:
        """Does the client use the older major version of the protocol?"""
        return self.version.startswith(f"{OLD_MAJOR}.")


class RtviDraft:
    """The working copy that one step changes: the state so far, and the acts to perform."""

    def __init__(self, state: RtviState) -> None:
        self.s = state
        self.acts: list[RtviAct] = []

    def set(self, **changes: Any) -> None:
        self.s = replace(self.s, **changes)

    def do(self, act: RtviAct) -> None:
        self.acts.append(act)

    def next_number(self) -> int:
        self.set(counted=self.s.counted + 1)
        return self.s.counted

    def send(self, kind: str, **data: Any) -> None:
        """Send a message that isn't a reply to one of the client's messages."""
        self.acts.append(SendToClient(kind, data or None, f"s{self.next_number()}"))

    def send_any(self, kind: str, data: Any) -> None:
        """Send a message whose data may be anything that JSON can hold."""
        self.acts.append(SendToClient(kind, data, f"s{self.next_number()}"))

    def send_stamped(self, kind: str, **data: Any) -> None:
        """Send a message, with the current time in its data."""
        self.acts.append(SendToClient(kind, data, f"s{self.next_number()}", is_stamped=True))

    def reply_to(self, id_: str, kind: str, **data: Any) -> None:
        """Send a reply to the client's message with this id."""
        self.acts.append(SendToClient(kind, data, id_))

    def refuse(self, why: str, id_: str = "") -> None:
        """Tell the client that its message or its sound is refused, and why."""
        if id_:
            self.reply_to(id_, "error-response", error=why)
        else:
            self.send("error", error=why, message=why, fatal=False)
