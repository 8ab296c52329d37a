"""Reads a journal and replays it step by step.

Each line contains an event and the digest of the state after that event, so every step of a replay is checked. Rule: an
error names the line that is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from duologue.core.codec import (
    SCHEMA,
    canonical,
    digest,
    event_from_json,
    settings_digest,
    settings_from_json,
    state_from_json,
    state_to_json,
)
from duologue.core.errors import DuologueError
from duologue.core.events import Event
from duologue.core.machine import MACHINE, Machine
from duologue.core.settings import Settings
from duologue.core.state import State, initial
from duologue.core.step_record import StepRecord
from duologue.observe.journal_writer import FORMAT, JournalWriter

__all__ = ["InvalidJournal", "Journal", "JournalEntry", "JournalWriter", "StepRecord", "read_journal", "replay"]


class InvalidJournal(DuologueError, ValueError):
    """A journal can't be read, or its replay leads to states that differ from the recorded states. The message names
    the line that is wrong."""


class JournalEntry(NamedTuple):
    """One line of a journal: the line number, the event, and the digest of the state after the event."""

    line: int
    event: Event
    digest: str


class Journal(NamedTuple):
    """A recorded conversation: its settings, its seed and its events."""

    settings: Settings
    seed: int
    entries: tuple[JournalEntry, ...]
    complete: bool = True  # False: the end line is missing, for example after a crash
    start: State | None = None  # the state at the beginning; None: a conversation that has not begun

    @property
    def first(self) -> State:
        """The state before the first event."""
        return self.start or initial(self.settings)


def read_journal(lines: Iterable[str], complete: bool = True) -> Journal:
    """Read a journal. Raises InvalidJournal, whose message names the first line that is wrong. If `complete` is False,
    the end line may be missing, and an incomplete last line is ignored."""
    numbered = enumerate(lines, start=1)
    _, header = _parse(*next(numbered, (1, "")))
    settings, seed = _read_header(header)
    start = _read_start(header, settings)
    entries: list[JournalEntry] = []
    for number, text in numbered:
        try:
            _, data = _parse(number, text)
        except InvalidJournal:
            if complete or text.endswith("\n") or next(numbered, None):
                raise
            break  # the last line was cut off
        if "end" in data:
            _check_end(number, data, entries, [number for number, _ in numbered])
            return Journal(settings, seed, tuple(entries), start=start)
        if set(data) != {"event", "digest"}:
            raise InvalidJournal(
                f"line {number}: the line of an event must have exactly the fields 'event' and 'digest'"
            )
        try:
            entries.append(JournalEntry(number, event_from_json(data["event"]), data["digest"]))
        except DuologueError as error:
            raise InvalidJournal(f"line {number}: {error}") from None
    if not complete:
        return Journal(settings, seed, tuple(entries), complete=False, start=start)
    raise InvalidJournal(f"truncated: no end line after event {len(entries)} (line {len(entries) + 1})")


def _parse(number: int, text: str) -> tuple[int, dict[str, Any]]:
    try:
        data = json.loads(text)
    except RecursionError:
        raise InvalidJournal(f"line {number}: the JSON is nested too deeply") from None
    except ValueError:
        raise InvalidJournal(
            f"line {number}: not JSON{', the line is cut off' if not text.endswith(chr(10)) else ''}"
        ) from None
    if not isinstance(data, dict):
        raise InvalidJournal(f"line {number}: expected a JSON object")
    return number, data


def _read_header(header: dict[str, Any]) -> tuple[Settings, int]:
    if header.get("format") != FORMAT:
        raise InvalidJournal("line 1: not a Duologue journal")
    if header.get("schema") != SCHEMA:
        raise InvalidJournal(
            f"line 1: the file has schema {header.get('schema')!r}, but this version reads only {SCHEMA}"
        )
    try:
        settings = settings_from_json(header.get("settings"))
    except DuologueError as error:
        raise InvalidJournal(f"line 1: {error}") from None
    if settings_digest(settings) != header.get("settings_digest"):
        raise InvalidJournal("line 1: the settings were edited (their digest differs)")
    seed = header.get("seed")
    if type(seed) is not int:
        raise InvalidJournal(f"line 1: seed must be a number, not {seed!r}")
    return settings, seed


def _read_start(header: dict[str, Any], settings: Settings) -> State | None:
    """The state with which a restored conversation starts; None if the conversation wasn't restored."""
    if "state" not in header:
        return None
    try:
        return state_from_json(header["state"], settings)
    except DuologueError as error:
        raise InvalidJournal(f"line 1: {error}") from None


def _check_end(number: int, data: dict[str, Any], entries: list[JournalEntry], rest: list[int]) -> None:
    if data["end"] != len(entries):
        raise InvalidJournal(f"line {number}: the end line counts {data['end']} events, but there are {len(entries)}")
    if rest:
        raise InvalidJournal(f"line {rest[0]}: unexpected line after the end")


def replay(journal: Journal, machine: Machine = MACHINE) -> Iterator[StepRecord]:
    """Replay the journal and yield every step. After every step, the digest of the state is compared with the digest in
    the journal. Raises InvalidJournal at the first difference."""
    s = journal.first
    for number, event, expected in journal.entries:
        try:
            d = machine.advance(s, event)
        except DuologueError as error:
            raise InvalidJournal(f"line {number}: {error}") from None
        after = s if d is None else d.build()
        found = digest(after)
        if found != expected:
            raise InvalidJournal(
                f"line {number}: after {type(event).__name__}, the state has the digest {found}, but the journal has"
                f" {expected}; the state is {canonical(state_to_json(after))}"
            )
        yield StepRecord(event, s, after, () if d is None else tuple(d.effects), () if d is None else tuple(d.fired))
        s = after
