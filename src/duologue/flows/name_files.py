"""Lists of names in files beside a file of flows: one name in each line, and after `|` what else people call it.

Rule: a list is read from the folder of its flows or below it, and from nowhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duologue.dialogue.english import Choice

from .problems import ProblemList, quoted
from .step_walk import entries_of

CHARS_MAX = 5_000_000
NAMES_MAX = 200_000


def read_name_files(data: Any, folder: Path | None, notes: ProblemList) -> dict[str, tuple[Choice, ...]]:
    """The names of every slot that has them in a file."""
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
    """The names, or what is wrong with the file."""
    if folder is None:
        return f"there is no file beside this text to read {quoted(name)} from: write the names as a list"
    try:
        file = (folder / name).resolve()
        if not file.is_relative_to(folder.resolve()):
            return f"{quoted(name)} is not beside this file"
        with file.open(encoding="utf-8-sig") as text:
            lines = text.read(CHARS_MAX + 1)
    except UnicodeDecodeError:
        return f"{quoted(name)} is not a text file in UTF-8"
    except (OSError, ValueError) as error:
        return f"{quoted(name)} can't be read: {getattr(error, 'strerror', None) or error}"
    if len(lines) > CHARS_MAX:
        return f"{quoted(name)} is larger than {CHARS_MAX:,} characters"
    names = _names_in(lines)
    if not names:
        return f"{quoted(name)} has no names in it"
    return names if len(names) <= NAMES_MAX else f"{quoted(name)} has more than {NAMES_MAX:,} names"


def _names_in(text: str) -> tuple[Choice, ...]:
    found = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.partition("#")[0].split("|")]
        if parts[0]:
            found.append(Choice(parts[0], tuple(part for part in parts[1:] if part)))
    return tuple(found)
