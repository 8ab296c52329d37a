"""Finds where a conversation that was taken over continues: in which journal, and after which of its events.

A process that takes over a conversation writes a journal of its own, which begins with the state that was saved. Events
that weren't saved before the earlier process ended are only in the earlier journal. Rule: a journal continues another
one only from a state that a replay of the other one reaches.
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
    """The place in an earlier journal from which another one continues."""

    file: Path
    event: int  # the number of the event after which it continues; 0: from the first state
    events: int  # how many events the earlier journal has

    @property
    def unsaved(self) -> int:
        """How many events of the earlier journal weren't saved."""
        return self.events - self.event


def find_continuation(start: State, earlier: Iterable[Path]) -> Continuation | None:
    """The place in one of these journals from which a journal that begins in this state continues. Journals that can't
    be read or replayed are passed over."""
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
