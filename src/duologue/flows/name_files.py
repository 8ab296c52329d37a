"""Reads lists of names from text files. Each line has one name, followed by other phrases for it, separated by `|`.

Rule: such a file must be in the folder of the flow file, or in a folder inside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duologue.dialogue.language.readings import Choice

from .problems import ProblemList, quoted
from .side_files import UnreadableSideFile, read_side_file
from .step_walk import entries_of

CHARS_MAX = 5_000_000
NAMES_MAX = 200_000


def read_name_files(data: Any, folder: Path | None, notes: ProblemList) -> dict[str, tuple[Choice, ...]]:
    """The names of every slot whose names are in a file. Problems are added to `notes`."""
    found = {}
    for slot, entry in entries_of(data, "slots").items():
        if isinstance(entry.get("names"), str):
            names = _read(entry["names"], folder)
            if isinstance(names, str):
                notes.add(("slots", slot, "names"), names)
            else:
                found[slot] = names
    return found


def _read(name: str, folder: Path | None) -> tuple[Choice, ...] | str:
    """The names in the file. If the file can't be used, the result is a text that says what is wrong with it."""
    try:
        _, lines = read_side_file(name, folder, CHARS_MAX, "write the names as a list")
    except UnreadableSideFile as problem:
        return str(problem)
    names = _names_in(lines)
    if not names:
        return f"file {quoted(name)} contains no names; write one name per line"
    return names if len(names) <= NAMES_MAX else f"file {quoted(name)} has more than {NAMES_MAX:,} names; shorten it"


def _names_in(text: str) -> tuple[Choice, ...]:
    found = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.partition("#")[0].split("|")]
        if parts[0]:
            found.append(Choice(parts[0], tuple(part for part in parts[1:] if part)))
    return tuple(found)
