"""Plays a set of recordings one after the other, and yields the agent's decisions.

A set is a file in which each line is a JSON object with at least `id` and `wav`, and `agent_wav` if the agent speaks
meanwhile. File names are relative to the folder of the set's file. Rule: decisions depend only on the sound. Labels in
a line are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duologue.core.errors import DuologueError

from .busy_clock import run_timed
from .listener import Listener, ListenResult, read


@dataclass(frozen=True, slots=True)
class RecordingRow:
    """One recording of a set: what the user says, and what the agent plays meanwhile, if anything."""

    id: str
    heard: Path
    played: Path | None


def read_rows(path: Path) -> list[RecordingRow]:
    """Read the file of a set. Raises `DuologueError` with one line that says what is wrong."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as problem:
        raise DuologueError(f"{path} can't be read: {getattr(problem, 'strerror', None) or 'not UTF-8 text'}") from None
    rows = [_row(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise DuologueError(f"{path} is empty: expected a line of JSON for each recording")
    return rows


def _row(path: Path, number: int, line: str) -> RecordingRow:
    try:
        row: Any = json.loads(line)
    except ValueError:
        raise DuologueError(f"{path}:{number}: not JSON") from None
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not isinstance(row.get("wav"), str):
        raise DuologueError(f'{path}:{number}: expected an object with the strings "id" and "wav"')
    agent = row.get("agent_wav")
    if agent is not None and not isinstance(agent, str):
        raise DuologueError(f'{path}:{number}: "agent_wav" must be a file name or null')
    return RecordingRow(row["id"], path.parent / row["wav"], path.parent / agent if agent else None)


def listen_to(listener: Listener, heard: Path, played: Path | None = None, journal: Path | None = None) -> ListenResult:
    """Play one recording to the listener in simulated time, and return what it decided and heard. With `journal`, the
    conversation is recorded at this path."""
    sound = read(played) if played is not None else None
    return run_timed(listener.listen(read(heard), sound, journal=journal))


def journal_of(folder: Path, recording: str) -> Path:
    """The path of the journal for a recording, in this folder. Its name is the recording's id, in which all characters
    except letters, digits, - and _ are replaced by -."""
    name = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in recording)
    return folder / f"{name.strip('-') or 'recording'}.jsonl"


def decide(
    listener: Listener, rows: list[RecordingRow], progress: Callable[[], object], record: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the decisions of these recordings as JSON objects. `progress` is called after each recording. With
    `record`, the journal of each conversation is written to the folder `record`."""
    for row in rows:
        journal = journal_of(record, row.id) if record is not None else None
        result = listen_to(listener, row.heard, row.played, journal)
        for decision in result.decisions:
            line = {"id": row.id, "t_ms": decision.t_ms, "kind": decision.kind}
            yield line | {"reasons": list(decision.reasons), "confidence": decision.confidence}
        progress()
