"""What a message may mean and what it was taken to mean, as values, and the protocol between the two.

Whoever understands, a model on this machine or one that is served somewhere, gets the same question and
gives the same kind of answer. Rule: an answer is always given. A service that fails is told by `error`, and
a message that fits nothing is out of scope; neither is an exception.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from duologue.core.leaves import ErrorClass

GUESSES_MAX = 5
CHARS_MAX = 4_000  # of a message; the rest is cut out of its middle
_HALF = CHARS_MAX // 2
_JOINTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Intent:
    """Something that the person may want: a flow to start, or a command. Examples teach most; a title or a
    description in plain words counts as one more."""

    name: str
    examples: tuple[str, ...] = ()
    description: str = ""
    title: str = ""
    """What it is called in words, where the name is an id that says more or less than that."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """Everything that says what it is; `book_table` is read as "book table"."""
        named = " ".join(_JOINTS.split(self.title or self.name)).strip()
        said = tuple(text for text in (*self.examples, self.description, named) if text.strip())
        return said or (self.name,)


@dataclass(frozen=True, slots=True)
class ExpectedSlot:
    """Something that may be filled at this turn."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class MessageScope:
    """What is open at this turn. `question` is what the person was asked, if something was."""

    intents: tuple[Intent, ...]
    slots: tuple[ExpectedSlot, ...] = ()
    question: str = ""

    def __post_init__(self) -> None:
        names = [intent.name for intent in self.intents]
        assert len(names) == len(set(names)), "intents of one scope have different names"


@dataclass(frozen=True, slots=True)
class Guess:
    """One intent, and how likely it is that just this was meant."""

    intent: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the message that fill a slot, as they were said: grammars make values of them."""

    slot: str
    text: str


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a message was taken to mean. `guesses` are ranked, the best first, and their confidences and that
    of being out of scope add up to no more than one."""

    guesses: tuple[Guess, ...] = ()
    is_in_scope: bool = False
    in_scope: float = 0.0
    """How likely it is that any of the open intents was meant."""
    quotes: tuple[Quote, ...] = ()
    error: ErrorClass | None = None
    """Why nobody could tell; nothing else is set then."""
    by: str = ""
    """Who understood: `minilm+e5`, `minilm`, `words`, `llm`."""

    @property
    def intent(self) -> str | None:
        """What was meant; nothing if it is out of scope."""
        return self.guesses[0].intent if self.guesses and self.is_in_scope else None

    @property
    def confidence(self) -> float:
        """Of the best guess, whether or not it is good enough."""
        return self.guesses[0].confidence if self.guesses else 0.0


class Nlu(Protocol):
    """Understands messages."""

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        """What this message means, of what is open at this turn."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """An NLU that learns a scope when it first meets it, and may do so before."""

    def prepare(self, *scopes: MessageScope) -> None: ...


def shortened(message: str) -> str:
    """Both ends of a long message: what somebody wants is said first or last."""
    return message if len(message) <= CHARS_MAX else f"{message[:_HALF]} {message[-_HALF:]}"
