"""What one person noted: what was said, what was heard, and what the server told. Values, for the verdict.

Rule: nothing here was ever asked of the server after the fact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from duologue.core.leaves import Voice

from .rendered_audio import Stretch


@dataclass(slots=True)
class TypedTurn:
    """Something that was typed. `heard` is what was heard between it and the next."""

    id: str
    text: str
    item: str
    typed_s: float
    is_safe: bool = False  # the server said so
    is_told_lost: bool = False
    is_closed: bool = False
    heard: list[str] = field(default_factory=list)
    took_s: float = 0.0
    is_stuck: bool = False


@dataclass(slots=True)
class Talked:
    """One conversation, as its person has it."""

    person: int
    id: str
    turns: list[TypedTurn] = field(default_factory=list)
    heard: list[tuple[int, str]] = field(default_factory=list)  # voice, and what was heard of it
    stretches: list[Stretch] = field(default_factory=list)
    told: list[tuple[float, str, str]] = field(default_factory=list)  # when, what, details
    is_unsaved: bool = False  # the server said that it can't be saved
    ended: str = ""  # why, if it did
    stuck: str = ""  # how, if it was

    def note(self, at_s: float, what: str, detail: str = "") -> None:
        self.told.append((round(at_s, 3), what, detail))


@dataclass(frozen=True, slots=True)
class Recovery:
    """From hello to an open floor, after a socket that was lost."""

    ms: int
    is_elsewhere: bool  # another process than before
    is_fair: bool = True  # the store was well all the time


@dataclass(frozen=True, slots=True)
class KeptTalk:
    """One conversation, as the store has it."""

    id: str
    user: tuple[str, ...]  # what was said, in order
    owed: int  # turns that got no answer
    is_over: bool
    machine: dict[str, Any] = field(default_factory=dict)

    @property
    def is_sounding(self) -> bool:
        """Was an answer being said when it was written?"""
        return bool(self.machine.get("voice", Voice.SILENT.value) != Voice.SILENT.value)


@dataclass(frozen=True, slots=True)
class AcceptedWrite:
    """One write that the store accepted."""

    conversation: str
    node: str
    epoch: int
    revision: int


@dataclass(frozen=True, slots=True)
class Deed:
    """One line of the ledger."""

    deed: str
    item: str
    key: str
    stage: str
    node: str
