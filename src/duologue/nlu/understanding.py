"""The interface of every NLU. A `MessageScope` says what is possible at a turn, and an `Understanding` says what a
message means.

Every NLU, local or remote, gets the same input and returns the same kind of result. Rule: an NLU always answers and
never raises an exception. A failed service is reported in `error`, and a message that fits no intent is reported as out
of scope.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from duologue.core.leaves import ErrorClass

GUESSES_MAX = 5
CHARS_MAX = 4_000  # a longer message loses its middle
_HALF = CHARS_MAX // 2
_JOINTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Intent:
    """Something that the user may want: to start a flow, or to give a command. An NLU learns it mainly from the
    examples, and also from the description and the title (or the name, if there is no title)."""

    name: str
    examples: tuple[str, ...] = ()
    description: str = ""
    title: str = ""
    """The intent's name in plain words, if `name` is an id that doesn't describe it."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """All texts that describe the intent: the examples, the description, and the title or name. A name such as
        `book_table` becomes "book table"."""
        named = " ".join(_JOINTS.split(self.title or self.name)).strip()
        said = tuple(text for text in (*self.examples, self.description, named) if text.strip())
        return said or (self.name,)


@dataclass(frozen=True, slots=True)
class ExpectedSlot:
    """A slot that may be filled at this turn."""

    name: str
    description: str = ""
    form: str = ""
    """How a value is written, for a model that normalises: "a date as YYYY-MM-DD", "one of: debit, credit"."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a language model is told besides the message."""

    today: str = ""
    history: tuple[str, ...] = ()
    """The last messages, each with its speaker: "user: …", "assistant: …"."""
    filled: tuple[tuple[str, str], ...] = ()
    """The values that are known already, by slot."""


@dataclass(frozen=True, slots=True)
class MessageScope:
    """What is possible at this turn. `question` is the agent's last question; empty if there was none. `around` is only
    for language models. Local models and the cache ignore it."""

    intents: tuple[Intent, ...]
    slots: tuple[ExpectedSlot, ...] = ()
    question: str = ""
    around: Surroundings = field(default=Surroundings(), compare=False)

    def __post_init__(self) -> None:
        names = [intent.name for intent in self.intents]
        assert len(names) == len(set(names)), "the intents of a scope need different names"


@dataclass(frozen=True, slots=True)
class Guess:
    """One intent, and the probability that it was meant."""

    intent: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Quote:
    """The words of the message that fill a slot, exactly as in the message. Grammars turn these words into values."""

    slot: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelValue:
    """The value of a slot in the normalised form that a language model returned. `written` is JSON text. The value is
    checked before it is used."""

    slot: str
    written: str


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a message was understood to mean. `guesses` are sorted with the best first. The sum of their confidences and
    of the probability that the message is out of scope is at most 1."""

    guesses: tuple[Guess, ...] = ()
    is_in_scope: bool = False
    in_scope: float = 0.0
    """The probability that any of the possible intents was meant."""
    quotes: tuple[Quote, ...] = ()
    values: tuple[ModelValue, ...] = ()
    """Normalised values, from a language model only."""
    answer: str = ""
    """What the language model would reply to a question or remark that isn't about the task."""
    error: ErrorClass | None = None
    """Why the NLU failed, or None. After a failure, all other fields except `by` are empty."""
    by: str = ""
    """Which method was used: `minilm+e5`, `minilm`, `words`, `llm`."""

    @property
    def intent(self) -> str | None:
        """The intent that was most probably meant; None if the message is out of scope."""
        return self.guesses[0].intent if self.guesses and self.is_in_scope else None

    @property
    def confidence(self) -> float:
        """The confidence of the best guess, even if the message is out of scope; 0 if there is no guess."""
        return self.guesses[0].confidence if self.guesses else 0.0


class Nlu(Protocol):
    """Understands messages."""

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        """What this message means, chosen from the intents and slots that are possible at this turn."""
        ...


@runtime_checkable
class Prepares(Protocol):
    """An NLU that has to learn a scope before it can understand messages in it."""

    def prepare(self, *scopes: MessageScope) -> None:
        """Learn these scopes now, so that their first message needn't wait. Returns when they are learned."""
        ...


def shortened(message: str) -> str:
    """The message; if it is too long, its middle is removed, because people say what they want at the beginning or the
    end."""
    return message if len(message) <= CHARS_MAX else f"{message[:_HALF]} {message[-_HALF:]}"
