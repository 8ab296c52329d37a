"""One reply on its way from the brain to the line.

Holds the sound that may not be played yet. Rule: it is played by at most one voice, and once it is
dropped, nothing of it is.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from duologue.ports.sound import Sound
from duologue.voice.ledger import Ledger

from .checkpoint import OpenSpeech
from .guarded_line import GuardedLine
from .validation import reading

AHEAD_MS_MAX = 20_000  # sound that is made before it is played; more would be wasted on an interruption


class Speech:
    """The sound of one reply."""

    def __init__(self, reply: int) -> None:
        self.reply = reply
        self.ledger = Ledger()
        self.task: asyncio.Task[Any] | None = None
        self.voice = 0  # once it may be played
        self.complete = False  # no more sound is to come
        self.dropped = False
        self.is_firm = False  # nobody may interrupt it
        self._held = True
        self._finished = False  # the line has been told so
        self._queue: deque[tuple[int, Sound]] = deque()
        self._room = asyncio.Event()

    def dump(self) -> OpenSpeech:
        return OpenSpeech(self.reply, self.voice, self.ledger.dump())

    @classmethod
    def load(cls, data: OpenSpeech) -> Speech:
        """What was being played when it was dumped, or NotRestorable. No more sound of it is to come."""
        speech = cls(data.reply)
        speech.voice = data.voice
        with reading("what was being said"):
            speech.ledger = Ledger.load(data.ledger)
        speech.complete = True
        return speech

    # -- From the brain's side

    async def has_room(self) -> None:
        """Wait until so much has been heard that more sound is worth making."""
        while self.ledger.total_ms - self.ledger.heard_ms > AHEAD_MS_MAX:
            self._room.clear()
            await self._room.wait()

    def add(self, sound: Sound, line: GuardedLine) -> None:
        self._queue.append((self.ledger.add(sound), sound))
        self._flush(line)

    def end(self, line: GuardedLine) -> None:
        """The reply has all its sound."""
        self.complete = True
        self._flush(line)

    # -- From the machine's side

    def play(self, voice: int, line: GuardedLine) -> None:
        self.voice = voice
        self._held = False
        self._flush(line)

    def hold(self, line: GuardedLine) -> None:
        self._held = True
        line.hold(self.voice)

    def resume(self, line: GuardedLine) -> None:
        self._held = False
        line.resume(self.voice)
        self._flush(line)

    def drop(self) -> None:
        """Nothing of it will be played any more."""
        self.dropped = True
        self._queue.clear()

    def _flush(self, line: GuardedLine) -> None:
        if self._held or self.dropped:
            return
        while self._queue and not self.dropped:
            if not line.play(self.voice, *self._queue.popleft()):
                self.drop()
                return
        if self.complete and not self._finished:
            self._finished = True
            line.finish(self.voice)

    # -- From the line's side

    def note_heard(self, heard_ms: int) -> None:
        self.ledger.note_heard(heard_ms)
        self._room.set()

    @property
    def is_all_given(self) -> bool:
        """Has the line got everything, so that it could finish?"""
        return self._finished
