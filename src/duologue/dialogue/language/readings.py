"""Questions and readings: what is asked, and what a reply to it means.

A question names a slot and what is known about it. A reading (what a reply means) has one of five types: direct,
ambiguous, a command, a confirmation or unclear. Rule: every value can be written as JSON and comes with its position in
the reply.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from ..english.names import NameList

Json: TypeAlias = "str | int | float | bool | dict[str, str | int | float | None] | list[Any] | None"

ANY = "dontcare"  # the value for "I don't mind"
DAYTIME_HOURS = (6, 22)


class SlotKind(StrEnum):
    """Which type of value a slot takes."""

    DATE = "date"
    TIME = "time"
    DURATION = "duration"
    NUMBER = "number"
    MONEY = "money"
    YES_NO = "yes_no"
    CHOICE = "choice"
    NAME = "name"  # from a known list, or the reply itself if it is only a name
    PHONE = "phone"
    EMAIL = "email"
    CODE = "code"  # letters and digits, spelled
    TEXT = "text"  # a short reply, word for word
    LIST = "list"  # several items, each with values of its own


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer from a short list, and its aliases."""

    value: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slot:
    """What is asked for, and which values it takes."""

    name: str
    kind: SlotKind
    choices: tuple[Choice, ...] = ()
    names: NameList | None = None
    is_open: bool = True  # a name may be one that the list doesn't have
    hours: tuple[int, int] = DAYTIME_HOURS  # a time without am or pm is in these hours; the second is excluded
    is_past: bool = False  # a date without a year is the most recent such day, as for a birthday
    may_be_any: bool = False  # "I don't mind" is an answer
    since: str = ""  # for a date: where "the day after" is counted from; for a time: the day it is on
    stays: bool = False  # a stay begins on `since`, so "three nights" gives a date
    is_birth: bool = False  # a date of birth: only a full date is accepted, never a weekday or "yesterday"


@dataclass(frozen=True, slots=True)
class Question:
    """One question about one slot, with everything that helps to understand the reply."""

    slot: Slot
    text: str = ""  # as it was asked; the reply may repeat its words
    about: str = ""  # words of the flow, such as "book a table at a restaurant"
    proposed: Json = None  # a value that the question proposed, which a "yes" accepts
    among: tuple[Json, ...] = ()  # after an ambiguous reply: the candidates that the agent asks about
    others: tuple[Slot, ...] = ()  # slots of the same flow that the reply may fill too


@dataclass(frozen=True, slots=True)
class Value:
    """A value for a slot, with the words that were said for it and their span in the reply."""

    slot: str
    value: Json
    raw: str
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Direct:
    """A reply that was wholly understood: it gives these values and says nothing else."""

    values: tuple[Value, ...]

    def value_of(self, slot: str) -> Json:
        """The value for a slot; None if it wasn't given."""
        return next((value.value for value in self.values if value.slot == slot), None)


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A reply that was wholly understood but may mean several values. The agent should ask rather than guess."""

    slot: str
    candidates: tuple[Json, ...]
    raw: str
    span: tuple[int, int]
    must_ask: bool = field(default=False, repr=False)  # a span of days, or a guess by sound: no preference may choose


@dataclass(frozen=True, slots=True)
class SpokenCommand:
    """A reply that controls the conversation: cancel, back, repeat, wait, skip, help, person or restart."""

    name: str


class ConfirmationAnswer(StrEnum):
    """The answer to a confirmation."""

    YES = "yes"
    NO = "no"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A reply that is a yes, a no or a change. A change has the new values only if the whole reply was understood."""

    answer: ConfirmationAnswer
    values: tuple[Value, ...] = ()


class Why(StrEnum):
    """The reason why a reply goes on to NLU."""

    EMPTY = "nothing was said"
    LONG = "longer than any plain answer"
    MARKER = "words of another intent"
    NEGATED = "something is denied"
    QUESTION = "it asks something"
    NO_VALUE = "no value found"
    SEVERAL = "more than one value"
    LEFTOVER = "words left over"
    OTHER_END = "about something else than was asked"
    NOTHING_PROPOSED = "yes or no, but no value was proposed"


@dataclass(frozen=True, slots=True)
class Unclear:
    """A reply that isn't a plain answer, so NLU should read it. `leftover` are the words that weren't understood."""

    why: Why
    leftover: tuple[str, ...] = field(default=())


Reading: TypeAlias = Direct | Ambiguous | SpokenCommand | Confirmation | Unclear


class Polarity(Enum):
    """Whether a reply says yes or no."""

    YES = "yes"
    NO = "no"
    BOTH = "both"
    UNSURE = "unsure"  # "let me think about it"


class Trick(Enum):
    """Why a plain yes or no to a question is unclear."""

    MINDS = "mind"  # the question asks "do you mind"
    DENIES = "or"  # the question is negative or offers two things: "a non-smoking room", "this or that"
