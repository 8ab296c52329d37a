"""A conversation as JSON lines: a header, one line for each event, an end.

Each line holds the event and the digest of the state after it, so a replay proves itself line by
line. No words are in it, and it replays without them. Rule: reading names the line that is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TextIO

from duologue.core.codec import (
    SCHEMA,
    canonical,
    digest,
    event_from_json,
    event_to_json,
    settings_digest,
    settings_from_json,
    settings_to_json,
    state_to_json,
)
from duologue.core.effects import Effect
from duologue.core.errors import DuologueError
from duologue.core.events import Event
from duologue.core.machine import MACHINE, Machine
from duologue.core.settings import Settings
from duologue.core.state import State, initial

FORMAT = "duologue-journal"


class InvalidJournal(DuologueError, ValueError):
    """A journal that can't be read or does not replay; the message names the line."""


class Entry(NamedTuple):
    """One line: what happened, and the fingerprint of the state after it."""

    line: int
    event: Event
    digest: str


class Journal(NamedTuple):
    """A whole conversation, as it was written down."""

    settings: Settings
    seed: int
    entries: tuple[Entry, ...]


class Moment(NamedTuple):
    """One replayed step."""

    event: Event
    before: State
    after: State
    effects: tuple[Effect, ...]
    fired: tuple[int, ...]  # rows by index, rules by -1 - index


class JournalWriter:
    """Writes a journal as the conversation goes; a crash leaves all lines but the end."""

    def __init__(self, out: TextIO, settings: Settings, seed: int = 0) -> None:
        self._out = out
        self._count = 0
        self._digest = digest(initial(settings))
        self._write(
            {
                "format": FORMAT,
                "schema": SCHEMA,
                "settings": settings_to_json(settings),
                "settings_digest": settings_digest(settings),
                "seed": seed,
                "digest": self._digest,
            }
        )

    def add(self, event: Event, after: State) -> None:
        """Write down one event and where it led."""
        self._count += 1
        self._digest = digest(after)
        self._write({"event": event_to_json(event), "digest": self._digest})

    def close(self) -> None:
        """Mark the journal as complete."""
        self._write({"end": self._count, "digest": self._digest})

    def _write(self, line: dict[str, Any]) -> None:
        self._out.write(canonical(line) + "\n")


def read_journal(lines: Iterable[str]) -> Journal:
    """The journal, or InvalidJournal that names the first line that is wrong."""
    numbered = enumerate(lines, start=1)
    _, header = _parse(*next(numbered, (1, "")))
    settings, seed = _read_header(header)
    entries: list[Entry] = []
    for number, text in numbered:
        _, data = _parse(number, text)
        if "end" in data:
            _check_end(number, data, entries, [number for number, _ in numbered])
            return Journal(settings, seed, tuple(entries))
        if set(data) != {"event", "digest"}:
            raise InvalidJournal(f"line {number}: an event needs exactly 'event' and 'digest'")
        try:
            entries.append(Entry(number, event_from_json(data["event"]), data["digest"]))
        except DuologueError as error:
            raise InvalidJournal(f"line {number}: {error}") from None
    raise InvalidJournal(f"truncated: no end after event {len(entries)} (line {len(entries) + 1})")


def _parse(number: int, text: str) -> tuple[int, dict[str, Any]]:
    try:
        data = json.loads(text)
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


def _check_end(number: int, data: dict[str, Any], entries: list[Entry], rest: list[int]) -> None:
    if data["end"] != len(entries):
        raise InvalidJournal(f"line {number}: the end counts {data['end']} events, there are {len(entries)}")
    if rest:
        raise InvalidJournal(f"line {rest[0]}: something follows the end")


def replay(journal: Journal, machine: Machine = MACHINE) -> Iterator[Moment]:
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
        yield Moment(event, s, after, () if d is None else tuple(d.effects), () if d is None else tuple(d.fired))
        s = after
