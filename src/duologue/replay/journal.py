"""A journal back to life: reading it, and replaying it step by step.

Each line holds an event and the digest of the state after it, so a replay proves itself line by
line. Rule: reading names the line that is wrong.
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
    state_to_json,
)
from duologue.core.errors import DuologueError
from duologue.core.events import Event
from duologue.core.machine import MACHINE, Machine
from duologue.core.settings import Settings
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.observe.journal_writer import FORMAT, JournalWriter

__all__ = ["InvalidJournal", "Journal", "JournalEntry", "JournalWriter", "StepRecord", "read_journal", "replay"]


class InvalidJournal(DuologueError, ValueError):
    """A journal that can't be read or does not replay; the message names the line."""


class JournalEntry(NamedTuple):
    """One line: what happened, and the fingerprint of the state after it."""

    line: int
    event: Event
    digest: str


class Journal(NamedTuple):
    """A whole conversation, as it was written down."""

    settings: Settings
    seed: int
    entries: tuple[JournalEntry, ...]
    complete: bool = True  # has it an end, or did a crash cut it short?


def read_journal(lines: Iterable[str], complete: bool = True) -> Journal:
    """The journal, or InvalidJournal that names the first line that is wrong. Unless it has to be
    `complete`, one without an end is read as far as it goes."""
    numbered = enumerate(lines, start=1)
    _, header = _parse(*next(numbered, (1, "")))
    settings, seed = _read_header(header)
    entries: list[JournalEntry] = []
    for number, text in numbered:
        try:
            _, data = _parse(number, text)
        except InvalidJournal:
            if complete or text.endswith("\n") or next(numbered, None):
                raise
            break  # the last line, cut off
        if "end" in data:
            _check_end(number, data, entries, [number for number, _ in numbered])
            return Journal(settings, seed, tuple(entries))
        if set(data) != {"event", "digest"}:
            raise InvalidJournal(f"line {number}: an event needs exactly 'event' and 'digest'")
        try:
            entries.append(JournalEntry(number, event_from_json(data["event"]), data["digest"]))
        except DuologueError as error:
            raise InvalidJournal(f"line {number}: {error}") from None
    if not complete:
        return Journal(settings, seed, tuple(entries), complete=False)
    raise InvalidJournal(f"truncated: no end after event {len(entries)} (line {len(entries) + 1})")


def _parse(number: int, text: str) -> tuple[int, dict[str, Any]]:
    try:
        data = json.loads(text)
    except RecursionError:
        raise InvalidJournal(f"line {number}: nested too deep") from None
    except ValueError:
        raise InvalidJournal(f"line {number}: not JSON{', cut off' if not text.endswith(chr(10)) else ''}") from None
    if not isinstance(data, dict):
        raise InvalidJournal(f"line {number}: not an object")
    return number, data


def _read_header(header: dict[str, Any]) -> tuple[Settings, int]:
    if header.get("format") != FORMAT:
        raise InvalidJournal("line 1: not a Duologue journal")
    if header.get("schema") != SCHEMA:
        raise InvalidJournal(f"line 1: journal has schema {header.get('schema')!r}, this version reads {SCHEMA}")
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


def _check_end(number: int, data: dict[str, Any], entries: list[JournalEntry], rest: list[int]) -> None:
    if data["end"] != len(entries):
        raise InvalidJournal(f"line {number}: the end counts {data['end']} events, there are {len(entries)}")
    if rest:
        raise InvalidJournal(f"line {rest[0]}: something follows the end")


def replay(journal: Journal, machine: Machine = MACHINE) -> Iterator[StepRecord]:
    """Every step again, each checked against its digest; the first difference is an error."""
    s = initial(journal.settings)
    for number, event, expected in journal.entries:
        try:
            d = machine.advance(s, event)
        except DuologueError as error:
            raise InvalidJournal(f"line {number}: {error}") from None
        after = s if d is None else d.build()
        found = digest(after)
        if found != expected:
            raise InvalidJournal(
                f"line {number}: {type(event).__name__} leads to {found}, the journal says {expected};"
                f" here: {canonical(state_to_json(after))}"
            )
        yield StepRecord(event, s, after, () if d is None else tuple(d.effects), () if d is None else tuple(d.fired))
        s = after
