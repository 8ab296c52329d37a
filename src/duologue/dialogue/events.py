"""Events of a dialogue: user messages, silence, and the results of NLU, validators and actions.

A result carries the number of its request, so late results are recognised. Rule: time comes in with the event;
`today` is the date where the user is, because "tomorrow" depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .commands import Command
from .english import Json


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str
    at: int  # milliseconds
    today: str  # ISO date, or date and time as in 2026-03-04T17:20, which "in half an hour" needs


@dataclass(frozen=True, slots=True)
class NothingSaid:
    """A question was open, and the user didn't answer in time."""

    at: int


@dataclass(frozen=True, slots=True)
class FlowRequested:
    """The program starts a flow, with the slot values that it already has."""

    flow: str
    at: int
    slots: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class Understood:
    """The result of NLU. No commands: the message was not understood."""

    request: int
    commands: tuple[Command, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Validated:
    """The value is valid. A normaliser may have changed it."""

    request: int
    value: Json
    at: int


@dataclass(frozen=True, slots=True)
class Rejected:
    request: int
    reason: str  # said to the user; empty: the `invalid` pattern is said
    at: int


@dataclass(frozen=True, slots=True)
class ActionDone:
    """`needs`: slots to be filled first; `confirm`: a question that the user must answer with yes first."""

    request: int
    outputs: tuple[tuple[str, Json], ...]
    at: int
    needs: tuple[str, ...] = ()
    confirm: str = ""


UNKNOWN_OUTCOME = "UnknownOutcome"  # the type of an action failure after which the action may still have succeeded


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """NLU, a validator or an action raised, timed out or returned an invalid result. Type UNKNOWN_OUTCOME: an action
    was interrupted by a restart, and it is unknown whether it succeeded."""

    request: int
    type: str
    message: str
    at: int


DialogueEvent: TypeAlias = (
    UserMessage | NothingSaid | FlowRequested | Understood | Validated | Rejected | ActionDone | WorkFailed
)
