"""The journal of a conversation as JSON lines: a header, one line for each event, and an end line.

A journal contains no spoken words and can be replayed without them. Rule: each line is complete when it is written, so
after a crash, only the end line is missing.
"""

from __future__ import annotations

from typing import Any, TextIO

from duologue.core.codec import (
    SCHEMA,
    canonical,
    digest,
    event_to_json,
    settings_digest,
    settings_to_json,
    state_to_json,
)
from duologue.core.events import Event
from duologue.core.settings import Settings
from duologue.core.state import State, initial

FORMAT = "duologue-journal"


class JournalWriter:
    """Writes a journal while the conversation runs. `start` is the first state; if the conversation was restored, it is
    the restored state."""

    def __init__(self, out: TextIO, settings: Settings, seed: int = 0, start: State | None = None) -> None:
        self._out = out
        self.count = 0
        fresh = initial(settings)
        self.digest = digest(start or fresh)
        header: dict[str, Any] = {
            "format": FORMAT,
            "schema": SCHEMA,
            "settings": settings_to_json(settings),
            "settings_digest": settings_digest(settings),
            "seed": seed,
            "digest": self.digest,
        }
        self._write({**header, "state": state_to_json(start)} if start not in (None, fresh) and start else header)

    def add(self, event: Event, after: State) -> None:
        """Write one event and the digest of the state after it."""
        self.count += 1
        self.digest = digest(after)
        self._write({"event": event_to_json(event), "digest": self.digest})

    def close(self) -> None:
        """Mark the journal as complete."""
        self._write({"end": self.count, "digest": self.digest})

    def _write(self, line: dict[str, Any]) -> None:
        self._out.write(canonical(line) + "\n")
