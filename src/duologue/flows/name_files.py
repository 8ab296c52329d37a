"""Reads lists of names from text files: one name per line, followed by other phrases for it, each after a `|`.

Rule: such a file must be in the folder of the flow file, or below it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duologue.dialogue.language.readings import Choice

from .problems import ProblemList, quoted
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
    """The names in the file; if it can't be used, a text that says what is wrong with it."""
    if folder is None:
        return f"file {quoted(name)} can't be found, because the flows aren't in a file; write the names as a list"
    try:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder.resolve()):
            return f"file {quoted(name)} is outside the folder of the flow file; move it there"
        with file.open(encoding="utf-8-sig") as text:
            lines = text.read(CHARS_MAX + 1)
    except UnicodeDecodeError:
        return f"file {quoted(name)} isn't UTF-8 text; save it in this encoding"
    except (OSError, ValueError) as error:
        return f"file {quoted(name)} can't be read: {getattr(error, 'strerror', None) or error}"
    if len(lines) > CHARS_MAX:
        return f"file {quoted(name)} is too large; at most {CHARS_MAX:,} characters are allowed"
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
