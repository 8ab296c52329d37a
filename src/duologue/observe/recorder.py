"""Writes a conversation to disk: the journal and, unless the conversation is private, its words.

The journal contains no words and can be replayed exactly. The words go to a second file next to it. Rule: both
files, and a folder created for them, are readable only by their owner. Every line is complete when it is written.
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
    """The path of the file with the words that belong to a journal: `call.words.jsonl` for `call.jsonl`."""
    return journal.with_name(f"{journal.stem}.words.jsonl")


class Recorder:
    """Writes one conversation while it runs."""

    def __init__(self, path: Path, settings: Settings, private: bool = False, seed: int = 0) -> None:
        self._out = _open_private(path)
        self._journal = JournalWriter(self._out, settings, seed)
        self._words: TextIO | None = None
        if not private:
            self._words = _open_private(words_path(path))
            self._write({"format": WORDS_FORMAT, "schema": WORDS_SCHEMA})

    def add(self, record: StepRecord) -> None:
        """Write one step, even if it changed nothing."""
        self._journal.add(record.event, record.after)
        self._out.flush()

    def add_words(self, caption: Caption) -> None:
        """Write what the person or the agent said, once it is final."""
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
        if self._words is not None:
            self._words.close()

    def _write(self, line: dict[str, Any]) -> None:
        assert self._words is not None
        self._words.write(canonical(line) + "\n")
        self._words.flush()


def _open_private(path: Path) -> TextIO:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(handle, 0o600)  # the file may have existed before, with other permissions
    # A lone surrogate is written as an escape, which JSON reads back as the same text.
    return os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace")
