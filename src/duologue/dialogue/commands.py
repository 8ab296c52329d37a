"""Commands: the only way to change a dialogue, whoever understood the message (D-04, D-05).

A grammar, the local NLU and a language model all produce these and nothing else. Rule: a command says what the
person wants, never what to answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .english import Json


@dataclass(frozen=True, slots=True)
class StartFlow:
    flow: str


@dataclass(frozen=True, slots=True)
class SetSlot:
    """A value for a slot that is open. `source`: who understood it."""

    slot: str
    value: Json
    raw: str = ""
    span: tuple[int, int] = (0, 0)
    source: str = "grammar"


@dataclass(frozen=True, slots=True)
class CorrectSlot:
    """Another value for a slot that was filled before."""

    slot: str
    value: Json
    raw: str = ""
    span: tuple[int, int] = (0, 0)
    source: str = "grammar"


@dataclass(frozen=True, slots=True)
class ClearSlot:
    slot: str


@dataclass(frozen=True, slots=True)
class Affirm:
    pass


@dataclass(frozen=True, slots=True)
class Deny:
    pass


@dataclass(frozen=True, slots=True)
class Cancel:
    pass


@dataclass(frozen=True, slots=True)
class Restart:
    """The open task from its beginning."""


@dataclass(frozen=True, slots=True)
class Repeat:
    pass


@dataclass(frozen=True, slots=True)
class Wait:
    """The person needs a moment."""


@dataclass(frozen=True, slots=True)
class Back:
    pass


@dataclass(frozen=True, slots=True)
class Skip:
    pass


@dataclass(frozen=True, slots=True)
class Help:
    pass


@dataclass(frozen=True, slots=True)
class Handoff:
    pass


@dataclass(frozen=True, slots=True)
class ChitChat:
    """Something beside the task. `text`: what to answer, if whoever understood it knows."""

    text: str = ""


Command: TypeAlias = (
    StartFlow
    | SetSlot
    | CorrectSlot
    | ClearSlot
    | Affirm
    | Deny
    | Cancel
    | Restart
    | Repeat
    | Wait
    | Back
    | Skip
    | Help
    | Handoff
    | ChitChat
)

# As the grammars name what is said about the conversation itself.
BY_NAME: dict[str, Command] = {
    "cancel": Cancel(),
    "restart": Restart(),
    "back": Back(),
    "repeat": Repeat(),
    "wait": Wait(),
    "skip": Skip(),
    "help": Help(),
    "person": Handoff(),
}
