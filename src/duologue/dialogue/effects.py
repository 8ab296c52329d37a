"""Effects of a dialogue: understand, validate, act, respond, save.

Every run of an action has a key. It lets your code recognise a request that was sent twice. Rule: the state is saved
before an action starts, and an action that is requested again after a failure or a restart keeps its key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .language.readings import Json


@dataclass(frozen=True, slots=True)
class Understand:
    """Request to NLU to say what a message means. `flows` are the flows that the message may start, and `slots` the
    slots that it may fill or correct."""

    request: int
    text: str
    flows: tuple[str, ...]
    slots: tuple[str, ...]
    waiting_for: str | None = None
    question: str = ""
    only_faq: bool = False  # only the FAQ is searched: a flow wants an answer to this text


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
    """Request to say a text to the user. `asks` is True if the text is a question that expects an answer. `ends` is
    True if the conversation ends after this text, unless the user says something. If `kept` isn't None, a language
    model may reword the text, but the new wording must contain the values in `kept`."""

    text: str
    barge_in: bool = True
    asks: bool = False
    ends: bool = False
    kept: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class HandOver:
    """Request to transfer the conversation to a human."""

    reason: str = ""  # given by a flow; empty if the user asked for a human, or if the agent gave up


@dataclass(frozen=True, slots=True)
class Save:
    """Request to save the state. The state is saved after a step, a transition or a response, and before an action."""

    reasons: tuple[str, ...]


DialogueEffect: TypeAlias = Understand | Validate | RunAction | Respond | HandOver | Save
