"""Commands: the only way in which a message can change a dialogue.

The grammars, the local NLU and a language model all produce commands and nothing else. Rule: a command says what the
user wants, never what the agent should reply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .language.readings import Json


@dataclass(frozen=True, slots=True)
class StartFlow:
    flow: str


@dataclass(frozen=True, slots=True)
class SetSlot:
    """A value for an unfilled slot. `source` says where the value comes from, for example a grammar, NLU or your
    program."""

    slot: str
    value: Json
    raw: str = ""
    span: tuple[int, int] = (0, 0)
    source: str = "grammar"


@dataclass(frozen=True, slots=True)
class CorrectSlot:
    """A new value for a slot that was already filled."""

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
    """Begin the open task again from its first step."""


@dataclass(frozen=True, slots=True)
class Repeat:
    pass


@dataclass(frozen=True, slots=True)
class NeedTime:
    """The user needs a moment."""


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
    """A remark that isn't about the task. `text` is the reply to the remark; if it is empty, the default reply is
    said."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """The user asks something that the FAQ answers. `entry` is the index of the FAQ entry."""

    entry: int


@dataclass(frozen=True, slots=True)
class Farewell:
    """The user says goodbye."""


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
    | NeedTime
    | Back
    | Skip
    | Help
    | Handoff
    | ChitChat
    | AnswerQuestion
    | Farewell
)

# The commands by the names that the grammars use for them.
BY_NAME: dict[str, Command] = {
    "cancel": Cancel(),
    "restart": Restart(),
    "back": Back(),
    "repeat": Repeat(),
    "wait": NeedTime(),
    "skip": Skip(),
    "help": Help(),
    "person": Handoff(),
}
