"""A conversation on disk: the journal, and beside it the words, unless they are private (C-SEC-002).

The journal holds no word and replays exactly; the words lie in a file of their own with its name.
Rule: both files, and a folder that is made for them, are readable by their owner alone, and every line is
complete when it is written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TextIO

from duologue.core.codec import canonical
from duologue.core.settings import Settings
from duologue.core.step_record import StepRecord

from .journal_writer import JournalWriter
from .signals import Caption

WORDS_FORMAT = "duologue-words"
WORDS_SCHEMA = 1


def words_path(journal: Path) -> Path:
    """Where the words of a journal lie: `call.jsonl` has `call.words.jsonl`."""
    return journal.with_name(f"{journal.stem}.words.jsonl")


class Recorder:
    """Writes one conversation down as it goes."""

    def __init__(self, path: Path, settings: Settings, private: bool = False, seed: int = 0) -> None:
        self._out = _open_private(path)
        self._journal = JournalWriter(self._out, settings, seed)
        self._words: TextIO | None = None
        if not private:
            self._words = _open_private(words_path(path))
            self._write({"format": WORDS_FORMAT, "schema": WORDS_SCHEMA})

    def add(self, record: StepRecord) -> None:
        """One step, whether or not it changed anything."""
        self._journal.add(record.event, record.after)
        self._out.flush()

    def add_words(self, caption: Caption) -> None:
        """What somebody said, once it is final."""
        if self._words is None or not caption.final or not (caption.text or caption.unheard):
            return
        line: dict[str, Any] = {"at": caption.at, "text": caption.text}
        if caption.role == "user":
            line |= {"kind": "user", "turn": caption.turn}
        else:
            line |= {"kind": "agent", "reply": caption.reply, "voice": caption.voice, "unheard": caption.unheard}
        self._write(line)

    def close(self) -> None:
        """Mark the journal as complete."""
        self._journal.close()
        self._out.close()
        if self._words is not None:
            self._words.close()

    def _write(self, line: dict[str, Any]) -> None:
        assert self._words is not None
        self._words.write(canonical(line) + "\n")
        self._words.flush()


def _open_private(path: Path) -> TextIO:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(handle, 0o600)  # it may have been there before
    return os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace")  # which JSON reads as the same again
