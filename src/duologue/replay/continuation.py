"""Connects the journals of a conversation that another process has taken over: finds the earlier journal, and the event
in it after which the new journal continues.

A process that takes over a conversation writes a separate journal, which begins with the state that was saved last.
Events that the earlier process didn't save before it ended are only in the earlier journal. Rule: a journal continues
an earlier journal only if a replay of the earlier journal reaches the state with which the new journal begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from duologue.core.codec import digest
from duologue.core.errors import DuologueError
from duologue.core.state import State

from .journal import read_journal, replay


class Continuation(NamedTuple):
    """The event in an earlier journal after which another journal continues."""

    file: Path
    event: int  # the number of the event after which it continues; 0: from the first state
    events: int  # how many events the earlier journal has

    @property
    def unsaved(self) -> int:
        """How many events of the earlier journal aren't part of the continued conversation, because they hadn't been
        saved."""
        return self.events - self.event


def find_continuation(start: State, earlier: Iterable[Path]) -> Continuation | None:
    """Find the event in one of the `earlier` journals that leads to `start`, the state with which the new journal
    begins. None if there is no such event. Journals that can't be read or replayed are skipped."""
    for path in earlier:
        try:
            found = _find(start, path)
        except (OSError, UnicodeDecodeError, DuologueError):
            continue
        if found is not None:
            return found
    return None


def _find(start: State, path: Path) -> Continuation | None:
    journal = read_journal(path.read_text("utf-8").splitlines(keepends=True), complete=False)
    wanted = digest(start)
    reached = [digest(journal.first), *(entry.digest for entry in journal.entries)]
    for _ in replay(journal):  # raises at the first digest that is wrong
        pass
    if journal.settings != start.settings or wanted not in reached:
        return None
    event = len(reached) - 1 - reached[::-1].index(wanted)
    return Continuation(path, event, len(journal.entries))
