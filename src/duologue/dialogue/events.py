"""What happens to a dialogue: messages, silence, and what the people who work for it bring.

Answers carry the number of the request that they belong to, so a late one is known. Rule: time comes in with
the event; `today` is the person's own date, because "tomorrow" is said by somebody somewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .commands import Command
from .english import Json


@dataclass(frozen=True, slots=True)
class UserSaid:
    text: str
    at: int  # milliseconds
    today: str  # ISO date; with the time of day, as in 2026-03-04T17:20, "in half an hour" is understood as well


@dataclass(frozen=True, slots=True)
class NothingSaid:
    """A question was open, and nobody answered."""

    at: int


@dataclass(frozen=True, slots=True)
class FlowRequested:
    """The program starts a flow, with slots that it knows."""

    flow: str
    at: int
    slots: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class Understood:
    """What a message means. No commands: nobody could tell."""

    request: int
    commands: tuple[Command, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Validated:
    """A value may be written, as it is now: a normaliser may have changed it."""

    request: int
    value: Json
    at: int


@dataclass(frozen=True, slots=True)
class Rejected:
    request: int
    reason: str  # said to the person; empty: the pattern's words
    at: int


@dataclass(frozen=True, slots=True)
class ActionDone:
    """`needs`: slots that it must have first; `confirm`: a question that must be answered by yes first."""

    request: int
    outputs: tuple[tuple[str, Json], ...]
    at: int
    needs: tuple[str, ...] = ()
    confirm: str = ""


UNKNOWN_OUTCOME = "UnknownOutcome"  # the type of a failure that may have been none


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """NLU, a validator or an action raised, hung or answered nonsense. Of the type UNKNOWN_OUTCOME: an action began
    before a restart, and nobody knows whether it happened."""

    request: int
    type: str
    message: str
    at: int


DialogueEvent: TypeAlias = (
    UserSaid | NothingSaid | FlowRequested | Understood | Validated | Rejected | ActionDone | WorkFailed
)
