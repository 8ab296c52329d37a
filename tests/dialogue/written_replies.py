"""Replies in other languages than English, written as text files: each with its value, or with a mark that it must not
be taken directly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from duologue.dialogue.english.names import NameList
from duologue.dialogue.language.pack import LanguagePack
from duologue.dialogue.language.readings import (
    Ambiguous,
    Choice,
    Confirmation,
    Direct,
    Json,
    Question,
    Reading,
    Slot,
    SlotKind,
)

TODAY = "2026-03-04T10:00"
CONFIRMED = (Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME), Slot("people", SlotKind.NUMBER))
NOT_DIRECT = "?"


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """One line of a file."""

    line: int
    kind: str
    question: str
    options: tuple[str, ...]
    reply: str
    expected: str

    def __str__(self) -> str:
        return f"{self.line}: [{self.kind}] {self.reply!r}"


def replies_in(file: Path) -> Iterator[WrittenReply]:
    kind, question = "", ""
    options: tuple[str, ...] = ()
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("["):
            kind, _, rest = line[1:].partition("]")
            question, _, more = (part.strip() for part in rest.partition("|"))
            options = tuple(option.strip() for option in more.split(",") if option.strip())
        elif " => " in line and not line.startswith("#"):
            reply, _, expected = line.rpartition(" => ")
            yield WrittenReply(number, kind, question, options, reply, expected)


def meaning(pack: LanguagePack, written: WrittenReply) -> str:
    """What the pack makes of a reply, in the words of the files."""
    if written.kind == "command":
        return pack.signs.command_of(pack.words.tokens_of(written.reply)) or NOT_DIRECT
    if written.kind == "courtesy":
        return pack.signs.courtesy_of(pack.words.tokens_of(written.reply)) or NOT_DIRECT
    if written.kind == "confirm":
        return _confirmed(pack.replies.read_confirmation(written.question, written.reply, TODAY, CONFIRMED))
    reading = pack.replies.read(Question(slot_of(written), written.question), written.reply, TODAY)
    if isinstance(reading, Direct):
        return _written(reading.values[0].value)
    return " / ".join(map(_written, reading.candidates)) if isinstance(reading, Ambiguous) else NOT_DIRECT


def slot_of(written: WrittenReply) -> Slot:
    kind, name = SlotKind(written.kind), {"name": "name"}.get(written.kind, "value")
    if kind is SlotKind.CHOICE:
        return Slot(name, kind, tuple(Choice(option) for option in written.options))
    if kind is SlotKind.NAME and written.options:
        return Slot("ziel", kind, names=NameList.of(written.options), is_open=False)
    return Slot(name, kind, is_past="past" in written.options)


def _confirmed(reading: Reading) -> str:
    if not isinstance(reading, Confirmation):
        return NOT_DIRECT
    return " ".join((reading.answer.value, *(f"{value.slot}={_written(value.value)}" for value in reading.values)))


def _written(value: Json) -> str:
    if isinstance(value, dict):
        return f"{value['amount']} {value['currency'] or ''}".strip()
    return value if isinstance(value, str) else json.dumps(value)
