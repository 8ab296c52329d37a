"""Effects of a dialogue: understand, validate, act, respond, save.

Rule: the state is saved before an action starts, and an action's key stays the same however often it is requested.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .english import Json


@dataclass(frozen=True, slots=True)
class Understand:
    """Request from NLU: what does the message mean? `flows` may be started, `slots` may be filled or corrected."""

    request: int
    text: str
    flows: tuple[str, ...]
    slots: tuple[str, ...]
    waiting_for: str | None = None
    question: str = ""


@dataclass(frozen=True, slots=True)
class Validate:
    """Request to normalise and validate a value before it is written."""

    request: int
    slot: str
    value: Json
    normaliser: str
    validator: str
    slots: tuple[tuple[str, Json], ...]


@dataclass(frozen=True, slots=True)
class RunAction:
    request: int
    action: str
    slots: tuple[tuple[str, Json], ...]
    key: str
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Respond:
    """Say this. `asks`: the text is a question and expects an answer."""

    text: str
    barge_in: bool = True
    asks: bool = False


@dataclass(frozen=True, slots=True)
class HandOver:
    """Transfer the conversation to a human."""


@dataclass(frozen=True, slots=True)
class Save:
    """Save the state. Requested after a step, a transition or a response, and before an action."""

    reasons: tuple[str, ...]


DialogueEffect: TypeAlias = Understand | Validate | RunAction | Respond | HandOver | Save
