"""The values that the verdict checks: what each person noted, what the store saved, which actions were done.

Rule: a person makes notes during the run and never asks the server for them afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from duologue.core.leaves import Voice

from .rendered_audio import Stretch


@dataclass(slots=True)
class TypedTurn:
    """A typed message. `heard` is what was heard between this message and the next."""

    id: str
    text: str
    item: str
    typed_s: float
    is_safe: bool = False  # the server confirmed that the message is saved
    is_reported_lost: bool = False  # the person was notified that the message got no answer
    is_closed: bool = False
    heard: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)  # complete answers that the page showed, with what was not heard
    took_s: float = 0.0
    is_stuck: bool = False
    is_typed_unsaved: bool = False  # when it was typed, the page showed that nothing is saved
    is_cut_short: bool = False  # the person interrupted the answer


@dataclass(slots=True)
class ConversationNotes:
    """One conversation, as its person experienced it."""

    person: int
    id: str
    turns: list[TypedTurn] = field(default_factory=list)
    heard: list[tuple[int, str]] = field(default_factory=list)  # voice, and what was heard of it
    stretches: list[Stretch] = field(default_factory=list)
    entries: list[tuple[float, str, str]] = field(default_factory=list)  # time, what happened, details
    is_unsaved: bool = False  # the page shows that the conversation isn't saved
    ended: str = ""  # the reason, if the conversation ended
    away_s: float = 0.0  # if the server has forgotten the conversation: how long its person was away before
    stuck: str = ""  # a description, if the conversation got stuck

    def note(self, at_s: float, what: str, detail: str = "") -> None:
        """Add an entry with its time."""
        self.entries.append((round(at_s, 3), what, detail))


@dataclass(frozen=True, slots=True)
class Recovery:
    """One reconnect: the milliseconds from the client's hello message until the person could speak again."""

    ms: int
    is_elsewhere: bool  # at another process than before
    is_fair: bool = True  # the store had no fault during the reconnect


@dataclass(frozen=True, slots=True)
class SavedConversation:
    """One conversation, as the store has saved it."""

    id: str
    user: tuple[str, ...]  # what was said, in order
    owed: int  # turns that got no answer
    is_over: bool
    machine: dict[str, Any] = field(default_factory=dict)

    @property
    def is_sounding(self) -> bool:
        """Was an answer playing when the conversation was saved?"""
        return bool(self.machine.get("voice", Voice.SILENT.value) != Voice.SILENT.value)


@dataclass(frozen=True, slots=True)
class AcceptedWrite:
    """One write that the store accepted."""

    conversation: str
    node: str
    epoch: int
    revision: int


@dataclass(frozen=True, slots=True)
class LoggedAction:
    """One line of the log of actions."""

    name: str
    item: str
    key: str
    stage: str
    node: str
