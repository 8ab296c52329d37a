"""`duologue slots`: reads replies to questions, and finds the values in those replies that can be understood without
NLU."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from duologue.core.errors import DuologueError
from duologue.dialogue.english.names import NameList
from duologue.dialogue.english.pack import ENGLISH
from duologue.dialogue.language.pack import LanguagePack
from duologue.dialogue.language.packs import UnknownLanguage, pack_of
from duologue.dialogue.language.readings import (
    Ambiguous,
    Choice,
    Confirmation,
    Direct,
    Question,
    Reading,
    Slot,
    SlotKind,
    SpokenCommand,
    Unclear,
    Why,
)

_KINDS = {"boolean": SlotKind.YES_NO, "text": SlotKind.NAME}
_WITHOUT_NAME = (Why.NO_VALUE, Why.LEFTOVER)


class KnownNames:
    """The names that the file of known names holds: one list per slot, and the list `all` with the names of all
    slots."""

    def __init__(self, names: Mapping[str, list[str]]) -> None:
        self._names = names
        self._lists: dict[str, NameList] = {}
        self.all = NameList.of((name for mine in names.values() for name in mine), finds_near=False)

    def of_slot(self, slot: str) -> NameList:
        """The known names of a slot; empty if the slot has no list."""
        if slot not in self._lists:
            self._lists[slot] = NameList.of(self._names.get(slot, ()))
        return self._lists[slot]


def slots_command(
    names: Annotated[
        Path | None, typer.Option(help="A JSON file of known names: an object that maps each slot to a list of names.")
    ] = None,
    parts: Annotated[
        bool, typer.Option(help="Also accept a reply that says yes and then asks something, as flows do.")
    ] = False,
    language: Annotated[str, typer.Option(help="The language of the replies: de, en or es.")] = "en",
) -> None:
    """Read replies to questions from standard input, one JSON object per line, and find their slot values."""
    try:
        pack = pack_of(language)
    except UnknownLanguage as error:
        raise DuologueError(f"--language: {error}") from None
    known = KnownNames(_read_names(names) if names is not None else {})
    for number, line in enumerate(sys.stdin, start=1):
        if line.strip():
            try:
                answer = answer_row(json.loads(line), known, parts=parts, pack=pack)
            except (KeyError, TypeError, ValueError) as error:
                raise DuologueError(f"standard input, line {number}: {type(error).__name__}: {error}") from None
            sys.stdout.write(json.dumps(answer) + "\n")


def _read_names(file: Path) -> dict[str, list[str]]:
    try:
        names = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DuologueError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise DuologueError(f"{file}: {error}") from None
    if not isinstance(names, dict):
        raise DuologueError(f"{file}: expected a JSON object that maps each slot to a list of names")
    return names


def answer_row(
    row: Mapping[str, Any], known: KnownNames, *, parts: bool = False, pack: LanguagePack = ENGLISH
) -> dict[str, Any]:
    """The result for one row of the input, as JSON: the value of the reply if the grammar understands the whole reply,
    otherwise the reason why it doesn't. A name that isn't in the list of its slot is looked up among all known names.
    With `parts`, a reply that says yes and then asks something counts as a yes."""
    if row["ask"] == "confirm":
        said = row["question"], row["reply"], row["today"]
        answer = _as_json(pack.replies.read_confirmation(*said, ()))
        if parts and not answer["direct"] and pack.replies.says_yes_then_asks(*said):
            answer = {"direct": True, "value": "yes", "asks": True}
        return {"id": row["id"], **answer}
    slot = slot_of(row, known)
    reading = _read(row, slot, pack)
    if slot.kind is SlotKind.NAME and isinstance(reading, Unclear) and reading.why in _WITHOUT_NAME:
        wider = Slot(slot.name, slot.kind, names=known.all)
        reading = _read(row, wider, pack)
    return {"id": row["id"], **_as_json(reading)}


def slot_of(row: Mapping[str, Any], known: KnownNames) -> Slot:
    """The name of the slot for which the question in this row asks."""
    kind = _KINDS.get(row["type"]) or SlotKind(row["type"])
    choices = tuple(map(Choice, row["choices"])) if kind is SlotKind.CHOICE else ()
    return Slot(row["slot"], kind, choices, known.of_slot(row["slot"]) if kind is SlotKind.NAME else None)


def _read(row: Mapping[str, Any], slot: Slot, pack: LanguagePack) -> Reading:
    about = row.get("service", "").rstrip("_0123456789")
    question = Question(slot, row["question"], about, row.get("proposed"))
    return pack.replies.read(question, row["reply"], row["today"])


def _as_json(reading: Reading) -> dict[str, Any]:
    match reading:
        case Direct(values):
            return {"direct": True, "value": str(values[0].value)}
        case Confirmation(answer):
            return {"direct": True, "value": str(answer)}
        case Ambiguous(_, candidates):
            return {"direct": False, "why": "ambiguous", "candidates": list(candidates)}
        case SpokenCommand(name):
            return {"direct": False, "why": "command", "command": name}
        case Unclear(why, leftover):
            return {"direct": False, "why": str(why), "leftover": list(leftover)}
