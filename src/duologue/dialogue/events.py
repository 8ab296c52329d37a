"""Events of a dialogue: user messages, silence, and the results of NLU, validators and actions.

Each result carries the number of its request, so the dialogue can ignore results that come too late. Rule: every event
carries its time, because a dialogue never reads a clock. `today` is the date at the user's location, because "tomorrow"
depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .commands import Command
from .language.readings import Json


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str
    at: int  # milliseconds
    today: str  # ISO date, or date and time as in 2026-03-04T17:20, which "in half an hour" needs
    confidence: float = 1.0  # how sure the ears are of the words, 0 to 1; typed text has 1


@dataclass(frozen=True, slots=True)
class NothingSaid:
    """A question was open, and the user didn't answer in time."""

    at: int


@dataclass(frozen=True, slots=True)
class FlowRequested:
    """Your program starts a flow and gives it the slot values that it already knows."""

    flow: str
    at: int
    slots: tuple[tuple[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class Understood:
    """The result of NLU. `commands` is empty if the message was not understood."""

    request: int
    commands: tuple[Command, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Validated:
    """The result of a validation: the value is valid. It may differ from the value in the request, because a normaliser
    may have changed it."""

    request: int
    value: Json
    at: int


@dataclass(frozen=True, slots=True)
class Rejected:
    request: int
    reason: str  # said to the user; if it is empty, the `invalid` pattern is said
    at: int


@dataclass(frozen=True, slots=True)
class ActionDone:
    """An action has returned. If `needs` is set, the action hasn't done anything yet, because these slots must be
    filled first. If `confirm` is set, it hasn't done anything yet either, because the user must first answer this
    question with yes."""

    request: int
    outputs: tuple[tuple[str, Json], ...]
    at: int
    needs: tuple[str, ...] = ()
    confirm: str = ""


UNKNOWN_OUTCOME = "UnknownOutcome"  # the type of an action failure after which the action may still have succeeded


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """NLU, a validator or an action raised an exception, took too long or returned an invalid result. If `type` is
    UNKNOWN_OUTCOME, the process was restarted while an action was running, and it is unknown whether the action
    succeeded."""

    request: int
    type: str
    message: str
    at: int


DialogueEvent: TypeAlias = (
    UserMessage | NothingSaid | FlowRequested | Understood | Validated | Rejected | ActionDone | WorkFailed
)
