"""What a dialogue wants done: understanding, validating, acting, speaking, saving.

Rule: everything that is saved is saved before an action begins, and an action carries a key that stays the same
however often it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .english import Json


@dataclass(frozen=True, slots=True)
class Understand:
    """Find out what a message means. `flows` may be started, `slots` may be filled or corrected."""

    request: int
    text: str
    flows: tuple[str, ...]
    slots: tuple[str, ...]
    waiting_for: str | None = None
    question: str = ""


@dataclass(frozen=True, slots=True)
class Validate:
    """Normalise and check a value before it is written."""

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
    """Say this. `asks`: an answer is wanted."""

    text: str
    barge_in: bool = True
    asks: bool = False


@dataclass(frozen=True, slots=True)
class HandOver:
    """A person takes over."""


@dataclass(frozen=True, slots=True)
class Save:
    """Keep the state: after a step, after a transition, before an action, after a response (D-13)."""

    reasons: tuple[str, ...]


DialogueEffect: TypeAlias = Understand | Validate | RunAction | Respond | HandOver | Save
