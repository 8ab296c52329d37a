"""Tasks that ask the person for one value: `email = await context.run(CollectEmail())`.

The person's replies are read by the grammars of the agent's language, without an LLM. Rule: a task returns a checked
value or raises NotCollected. A card number never enters the history, a log or the store.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, ClassVar, Generic, Self, TypeVar

from duologue.core.errors import DuologueError
from duologue.dialogue.language.pack import LanguagePack
from duologue.dialogue.language.packs import has_pack, pack_of
from duologue.dialogue.language.readings import (
    Ambiguous,
    ConfirmationAnswer,
    Direct,
    Question,
    Reading,
    Slot,
    SlotKind,
    SpokenCommand,
)
from duologue.dialogue.templates import spoken
from duologue.ports.call_actions import KeyRule
from duologue.ports.context import Context, NotPossible

from .collect_texts import collect_text

V = TypeVar("V")
MEANINGS_MAX = 3  # of a reply; with more, the question is asked again


class NotCollected(DuologueError):
    """The person gave no usable value, wants to stop, or can't be asked. The message says which."""


@dataclass(frozen=True, slots=True)
class CollectValue(ABC, Generic[V]):
    """Asks for a value of the type `V`. First `question` is asked; after a reply without a usable value, `again` is
    asked. If `confirm` isn't empty, the value is read back and must be confirmed: `{value}` in `confirm` stands for the
    value. Instead of a text that you omit, a built-in text in the agent's language is used. `today` returns the current
    time, which is needed for relative days such as "tomorrow"."""

    question: str
    kind: SlotKind = SlotKind.TEXT
    again: str = ""
    confirm: str | None = None  # None: the text of the language, if the task has one; empty: nothing is confirmed
    tries_max: int = 3
    today: Callable[[], datetime] = datetime.now
    language: str = ""  # such as "de"; empty: the language of the agent. Without a language pack, replies are English
    secret: ClassVar[bool] = False
    confirms: ClassVar[bool] = False  # the answer is a yes or a no
    texts: ClassVar[tuple[str, str, str]] = ("", "again", "")  # names of question, again and confirm; empty: no text

    async def run(self, context: Context[Any]) -> V:
        """Ask until there is a usable value, and return the value. Raises NotCollected after `tries_max` tries, or if
        the person wants to stop or can't be asked."""
        return await self.in_language(context.language)._run(context)

    def in_language(self, language: str) -> Self:
        """A copy of this task with the omitted texts filled in. They are in the language of the task; if the task has
        no language, in `language`."""
        language = self.language or language
        asked, again, confirm = (collect_text(language, name) if name else "" for name in self.texts)
        return replace(
            self,
            language=language,
            question=self.question or asked,
            again=self.again or again,
            confirm=confirm if self.confirm is None else self.confirm,
        )

    async def _run(self, context: Context[Any]) -> V:
        question = self.question
        try:
            for _ in range(self.tries_max):
                reply = await context.ask(question, secret=self.secret, confirms=self.confirms)
                value = self._certain(context, self.read(reply))
                if value is None:
                    value = await self._settle(context, reply)
                if value is not None and await self._is_confirmed(context, value):
                    return value
                # Without a reply, for example after an interruption, the question itself may not have been heard.
                question = self.again if reply.strip() and value is None else self.question
        except NotPossible as over:
            raise NotCollected(f"the person can't be asked: {over}") from over
        raise NotCollected(f"no usable answer in {self.tries_max} tries")

    @property
    def pack(self) -> LanguagePack:
        """The language pack that reads the replies."""
        return pack_of(self.language if has_pack(self.language) else "en")

    @abstractmethod
    def read(self, reply: str) -> V | None:
        """The value in this reply; None if the reply has no value. Raises NotCollected if the person wants to stop."""

    def _found(self, reply: str) -> str | None:
        """What the grammar of `kind` finds in this reply, as text. Raises NotCollected if the person wants to stop."""
        reading = self._reading(reply)
        found = reading.value_of("value") if isinstance(reading, Direct) else None
        return None if found is None else str(found)

    def _certain(self, context: Context[Any], value: V | None) -> V | None:  # noqa: ARG002
        """The value; None if it was heard too badly to be used. In this base class, the value is always used."""
        return value

    async def _settle(self, context: Context[Any], reply: str) -> V | None:  # noqa: ARG002
        """Ask which meaning of an ambiguous reply is right, and return the chosen value; None if the reply isn't
        ambiguous. Called when no value was found in the reply. In this base class, the result is always None."""
        return None

    def _reading(self, reply: str, among: tuple[Any, ...] = ()) -> Reading:
        question = Question(Slot("value", self.kind), text=self.question, among=among)
        reading = self.pack.replies.read(question, reply, self.today().isoformat(timespec="minutes"))
        if isinstance(reading, SpokenCommand) and reading.name in ("cancel", "person"):
            raise NotCollected("the person wants to stop")
        return reading

    def spoken(self, value: V) -> str:
        """The text with which this value is read back to the person."""
        return str(value)

    async def _is_confirmed(self, context: Context[Any], value: V) -> bool:
        if not self.confirm:
            return True
        question = self.confirm.format(value=self.spoken(value))
        return await context.run(CollectConfirmation(question, today=self.today, language=self.language))


@dataclass(frozen=True, slots=True)
class CollectText(CollectValue[str]):
    """Asks for a text, or for another value that `kind` names, and returns it as text."""

    def read(self, reply: str) -> str | None:
        return self._found(reply)


@dataclass(frozen=True, slots=True)
class CollectName(CollectText):
    question: str = ""
    kind: SlotKind = SlotKind.NAME
    texts: ClassVar[tuple[str, str, str]] = ("name", "again", "")


@dataclass(frozen=True, slots=True)
class CollectEmail(CollectText):
    question: str = ""
    kind: SlotKind = SlotKind.EMAIL
    texts: ClassVar[tuple[str, str, str]] = ("email", "again", "right")


@dataclass(frozen=True, slots=True)
class CollectPhone(CollectText):
    question: str = ""
    kind: SlotKind = SlotKind.PHONE
    texts: ClassVar[tuple[str, str, str]] = ("phone", "again", "right")

    def spoken(self, value: str) -> str:
        return " ".join(value)


@dataclass(frozen=True, slots=True)
class CollectAddress(CollectText):
    """Asks for a postal address and returns it as the person said it. The address isn't checked. So it is read back,
    and the person must confirm it."""

    question: str = ""
    texts: ClassVar[tuple[str, str, str]] = ("address", "again", "right")

    def read(self, reply: str) -> str | None:
        self._found(reply)  # raises if the person wants to stop
        return reply.strip(" .") or None


@dataclass(frozen=True, slots=True)
class CollectDate(CollectValue[date]):
    """Asks for a day and returns a `date`."""

    question: str = ""
    kind: SlotKind = SlotKind.DATE
    texts: ClassVar[tuple[str, str, str]] = ("date", "again", "")

    def read(self, reply: str) -> date | None:
        return _day(self._found(reply))

    async def _settle(self, context: Context[Any], reply: str) -> date | None:
        reading = self._reading(reply)
        if not isinstance(reading, Ambiguous) or len(reading.candidates) > MEANINGS_MAX:
            return None
        today, forms = self.today().isoformat(timespec="minutes"), self.pack.spoken
        said = [spoken(one, today, forms) for one in reading.candidates]
        asked = collect_text(self.language, "which").format(first=", ".join(said[:-1]), last=said[-1])
        chosen = await context.ask(asked)
        answer = self._reading(chosen, reading.candidates)
        return _day(answer.value_of("value")) if isinstance(answer, Direct) else None


@dataclass(frozen=True, slots=True)
class CollectConfirmation(CollectValue[bool]):
    """Asks a question that is answered with yes or no, and returns a bool. A yes that was heard with low confidence
    doesn't count, because it may have been a noise."""

    confirms: ClassVar[bool] = True
    texts: ClassVar[tuple[str, str, str]] = ("", "yes_or_no", "")

    def read(self, reply: str) -> bool | None:
        now = self.today().isoformat(timespec="minutes")
        answer = self.pack.replies.plain_answer(self.question, reply, now, ())
        return None if answer is None else answer is ConfirmationAnswer.YES

    def _certain(self, context: Context[Any], value: bool | None) -> bool | None:
        return None if value is True and context.is_doubtful else value


@dataclass(frozen=True, slots=True)
class CollectCardNumber(CollectText):
    """Asks for the number of a payment card. Only a number with a valid check digit is accepted. The reply is hidden
    everywhere, and only the last four digits are read back."""

    question: str = ""
    kind: SlotKind = SlotKind.CODE
    secret: ClassVar[bool] = True
    texts: ClassVar[tuple[str, str, str]] = ("card", "card_again", "card_right")

    def read(self, reply: str) -> str | None:
        digits = re.sub(r"\D", "", reply)
        if len(digits) < 12:
            digits = re.sub(r"\D", "", self._found(reply) or "")
        return digits if 12 <= len(digits) <= 19 and _has_check_digit(digits) else None

    def spoken(self, value: str) -> str:
        return " ".join(value[-4:])


@dataclass(frozen=True, slots=True)
class CollectDigits(CollectText):
    """Asks for digits, such as a PIN or a customer number, and returns them as text. The person may speak the digits or
    press them on a telephone. If `length` is 0, any number of digits is accepted. Pressed digits are complete when
    there are `length` digits, after `#`, or after a pause of `pause_ms`. With `hidden`, the digits never appear in the
    history, a log or the store."""

    question: str = ""
    kind: SlotKind = SlotKind.CODE
    texts: ClassVar[tuple[str, str, str]] = ("digits", "digits_again", "")
    length: int = 0  # 0: any number of digits
    pause_ms: int = 3_000
    hidden: bool = False

    async def run(self, context: Context[Any]) -> str:
        context.expect_keys(KeyRule(self.length, "#", self.pause_ms))
        try:
            return await CollectText.run(self, context)
        finally:
            context.expect_keys(None)

    @property
    def secret(self) -> bool:  # type: ignore[override]
        return self.hidden

    def read(self, reply: str) -> str | None:
        digits = re.sub(r"[\s.,*-]", "", reply)
        if not digits.isascii() or not digits.isdigit():
            digits = re.sub(r"\D", "", self._found(reply) or "")
        return digits if digits and self.length in (0, len(digits)) else None

    def spoken(self, value: str) -> str:
        return " ".join(value)


def _day(found: Any) -> date | None:
    return date.fromisoformat(found) if isinstance(found, str) else None


def _has_check_digit(digits: str) -> bool:
    """Is the last digit right, by the Luhn formula?"""
    doubled = (int(one) * (1 + place % 2) for place, one in enumerate(reversed(digits)))
    return sum(number - 9 * (number > 9) for number in doubled) % 10 == 0
