"""Writes a conversation to disk: the journal and, unless the conversation is private, its words and its ear journal.

The journal contains no spoken words and can be replayed exactly. The words are written to a second file next to the
journal, and the reports of the ears to a third file. Rule: the files can be read only by the user who owns them. If
their folder has to be created, the same holds for the folder. Every line is complete when it is written.
"""

from __future__ import annotations

import os
import re
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from duologue.core.codec import canonical
from duologue.core.state import State
from duologue.core.step_record import StepRecord
from duologue.hearing.inputs import Input
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.words import SaidWords

from .ears_writer import EarsWriter, start_of
from .journal_writer import JournalWriter
from .signals import Caption

WORDS_FORMAT = "duologue-words"
WORDS_SCHEMA = 1

_WORDS_END = ".words.jsonl"
_EARS_END = ".ears.jsonl"


def words_path(journal: Path) -> Path:
    """The path of the file that contains the words for this journal, such as `call.words.jsonl` for `call.jsonl`."""
    return journal.with_name(f"{journal.stem}{_WORDS_END}")


def ears_path(journal: Path) -> Path:
    """The path of the ear journal for this journal of events, such as `call.ears.jsonl` for `call.jsonl`."""
    return journal.with_name(f"{journal.stem}{_EARS_END}")


_NUMBERED = re.compile(r"(.+)-([2-9]|[1-9]\d+)")


def new_journal_path(folder: Path, name: str) -> Path:
    """A new path in this folder for the journal of the conversation with this name. If another process takes over the
    conversation, it writes a separate journal: `call-2.jsonl` next to `call.jsonl`."""
    paths = (folder / (f"{name}.jsonl" if number == 1 else f"{name}-{number}.jsonl") for number in count(1))
    return next(path for path in paths if not path.exists())


def earlier_journals(path: Path) -> list[Path]:
    """The existing journals in this folder that other processes wrote earlier for the same conversation, the newest
    first. For `call-3.jsonl`, these are `call-2.jsonl` and `call.jsonl`."""
    numbered = _NUMBERED.fullmatch(path.stem)
    if numbered is None:
        return []
    names = [f"{numbered[1]}-{number}" for number in reversed(range(2, int(numbered[2])))] + [numbered[1]]
    return [one for name in names if (one := path.with_name(name + path.suffix)).exists()]


def is_journal(path: Path) -> bool:
    """Is this file a journal of events, judged by its name? False for a file of words and for an ear journal."""
    return path.suffix == ".jsonl" and not path.name.endswith((_WORDS_END, _EARS_END))


class Recorder:
    """Writes one conversation while it runs. `start` is the state in which the recording begins."""

    def __init__(self, path: Path, start: State, private: bool = False, seed: int = 0) -> None:
        self._path = path
        self._private = private
        self._start = start_of(start)
        self._out = open_private(path)
        self._journal = JournalWriter(self._out, start.settings, seed, start)
        self._words: TextIO | None = None
        self._ears_out: TextIO | None = None
        self._ears: EarsWriter | None = None
        if not private:
            self._words = open_private(words_path(path))
            self._write({"format": WORDS_FORMAT, "schema": WORDS_SCHEMA})

    def open_ears(self, policy: HearingPolicy, words: SaidWords, agent: str, ears: dict[str, Any]) -> None:
        """Begin the ear journal, unless the conversation is private."""
        if not self._private:
            self._ears_out = open_private(ears_path(self._path))
            self._ears = EarsWriter(self._ears_out, policy, words, agent, ears, self._start)

    def add_policy(self, policy: HearingPolicy) -> None:
        """Write that the hearing machine decides by another policy from now on."""
        if self._ears is not None and self._ears_out is not None:
            self._ears.add_policy(policy, self._journal.count)
            self._ears_out.flush()

    def add_input(self, i: Input) -> None:
        """Write one input of the hearing machine."""
        if self._ears is not None and self._ears_out is not None:
            self._ears.add(i, self._journal.count)
            self._ears_out.flush()

    def add(self, record: StepRecord) -> None:
        """Write one step, even if it changed nothing."""
        self._journal.add(record.event, record.after)
        self._out.flush()

    def add_words(self, caption: Caption) -> None:
        """Write what the person or the agent said. A caption that isn't final yet is ignored."""
        if self._words is None or not caption.final or not (caption.text or caption.unheard):
            return
        line: dict[str, Any] = {"at": caption.at, "text": caption.text}
        if caption.role == "user":
            line |= {"kind": "user", "turn": caption.turn}
        else:
            line |= {"kind": "agent", "reply": caption.reply, "voice": caption.voice, "unheard": caption.unheard}
        self._write(line)

    def close(self) -> None:
        """Mark the journal as complete, and close the files."""
        self._journal.close()
        self._out.close()
        if self._ears is not None and self._ears_out is not None:
            self._ears.close(self._journal.count, self._journal.digest)
            self._ears_out.close()
        if self._words is not None:
            self._words.close()

    def _write(self, line: dict[str, Any]) -> None:
        assert self._words is not None
        self._words.write(canonical(line) + "\n")
        self._words.flush()


def open_private(path: Path) -> TextIO:
    """Open a file for writing that only its owner can read. An existing file is overwritten, and a missing folder is
    created."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(handle, 0o600)  # the file may have existed before, with other permissions
    # A lone surrogate is written as an escape, which JSON reads back as the same text.
    return os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace")
