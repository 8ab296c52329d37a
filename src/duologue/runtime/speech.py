"""The sound of one reply, on its way from the voice to the line.

Queues the sound that may not be played yet. Rule: a reply is played under at most one voice number, and nothing of it
is played once it is dropped.
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

AHEAD_MS_MAX = 20_000  # sound that is made ahead; more would be wasted by an interruption


class Speech:
    """The sound of one reply, and its ledger of what was heard."""

    def __init__(self, reply: int) -> None:
        self.reply = reply
        self.ledger = Ledger()
        self.task: asyncio.Task[Any] | None = None
        self.voice = 0  # its number, once it may be played
        self.complete = False  # the reply has all its sound
        self.dropped = False
        self.is_firm = False  # it can't be interrupted
        self._held = True
        self._finished = False  # the line was told that this is the end
        self._queue: deque[tuple[int, Sound]] = deque()
        self._room = asyncio.Event()

    def dump(self) -> OpenSpeech:
        return OpenSpeech(self.reply, self.voice, self.ledger.dump())

    @classmethod
    def load(cls, data: OpenSpeech) -> Speech:
        """Restore what `dump` returned. Raises NotRestorable. The restored speech gets no more sound."""
        speech = cls(data.reply)
        speech.voice = data.voice
        with reading("the reply that was playing"):
            speech.ledger = Ledger.load(data.ledger)
        speech.complete = True
        return speech

    # -- From the brain's side

    async def has_room(self) -> None:
        """Wait until less than AHEAD_MS_MAX of the sound is unheard."""
        while self.ledger.total_ms - self.ledger.heard_ms > AHEAD_MS_MAX:
            self._room.clear()
            await self._room.wait()

    def add(self, sound: Sound, line: GuardedLine) -> None:
        self._queue.append((self.ledger.add(sound), sound))
        self._flush(line)

    def end(self, line: GuardedLine) -> None:
        """No more sound will be added."""
        self.complete = True
        self._flush(line)

    # -- From the state machine's side

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
        """Play no more of it."""
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
        """Has the line been given all of the sound?"""
        return self._finished
