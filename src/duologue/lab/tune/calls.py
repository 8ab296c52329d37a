"""Finds recorded calls in a folder, and checks that they replay before they are used.

Rule: a call that doesn't replay exactly isn't used, and the reason is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from duologue.core.errors import DuologueError
from duologue.core.step_record import StepRecord
from duologue.hearing.inputs import Reported
from duologue.hearing.policy import HearingPolicy
from duologue.observe.recorder import ears_path, is_journal
from duologue.ports.ears import Pause
from duologue.replay.ears_file import EarsJournal, read_ears, replay_ears
from duologue.replay.journal import Journal, read_journal, replay

from .pauses import DecidedCall, decide
from .policies import setting


class RecordedCall(NamedTuple):
    """A call that was recorded with its ear journal, and that replays exactly."""

    name: str
    journal: Journal
    records: tuple[StepRecord, ...]
    ears: EarsJournal
    policy: HearingPolicy

    @property
    def has_sound(self) -> bool:
        """Did the ears of this call measure the sound before at least one pause (`Pause.features`)? Ears that report
        only words, like most cloud services, don't, so decisions by sound can't be made again for such a call."""
        return any(
            type(entry.input) is Reported and type(entry.input.heard) is Pause and entry.input.heard.features.is_heard
            for entry in self.ears.entries
        )

    def decide(self, name: str) -> DecidedCall:
        """Make the turn-taking decisions of this recorded call again, with the setting called `name`."""
        return decide(self.journal, self.records, self.ears, setting(name, self.policy))


class UnusableCall(NamedTuple):
    """A call that can't be used, and why."""

    name: str
    why: str


def find_calls(folder: Path) -> Iterator[RecordedCall | UnusableCall]:
    """Every recorded call in this folder and the folders in it, in the order of the names."""
    for path in sorted(filter(is_journal, folder.rglob("*.jsonl"))):
        name = str(path.relative_to(folder).with_suffix(""))
        try:
            yield read_call(path)._replace(name=name)
        except UnicodeDecodeError:
            yield UnusableCall(name, "not a text file")
        except OSError as problem:
            yield UnusableCall(name, problem.strerror or str(problem))
        except DuologueError as problem:
            yield UnusableCall(name, str(problem))


def read_call(path: Path) -> RecordedCall:
    """Read one call, and check that it replays exactly. If its recording was cut off by a crash, the part before the
    crash is used. Raises DuologueError or OSError."""
    journal = read_journal(path.read_text("utf-8").splitlines(keepends=True), complete=False)
    beside = ears_path(path)
    if not beside.exists():
        raise DuologueError(f"there is no ear journal ({beside.name}) next to this journal")
    ears = read_ears(beside.read_text("utf-8").splitlines(keepends=True), complete=False)
    if ears.is_redacted:
        raise DuologueError("its ear journal is redacted (it has no words), so nothing can be decided again")
    records = tuple(replay(journal))
    for _ in replay_ears(ears, journal.first, records, complete=journal.complete and ears.complete):
        pass
    assert ears.policy is not None
    return RecordedCall(path.stem, journal, records, ears, ears.policy)
