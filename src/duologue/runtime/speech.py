"""The sound of one reply, on its way from the voice (TTS) to the line (the connection to the user).

Sound waits in a queue until it may be played. Rule: a reply's sound has at most one number (`voice`), which the line
uses in its reports. After a reply is dropped, no more of its sound is played.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from duologue.ports.sound import Sound
from duologue.voice.ledger import Ledger

from .checkpoint import OpenSpeech
from .flag import Flag
from .guarded_line import GuardedLine
from .receipts import HeardText
from .validation import reading

AHEAD_MS_MAX = 20_000  # sound made ahead of playback; an interruption wastes it


class Speech:
    """The sound of one reply, and its ledger, which says what was heard."""

    def __init__(self, reply: int, is_awaited: bool = False) -> None:
        self.reply = reply
        self.is_awaited = is_awaited  # the user waits for an answer, so an empty reply is a failure
        self.ledger = Ledger()
        self.task: asyncio.Task[Any] | None = None
        self.voice = 0  # the voice number of the speech; 0: the speech may not be played yet
        self.counts = Flag()  # set once the user's turn is over and the reply may be used
        self.asks = False  # the reply holds a question
        self.complete = False  # the reply has all its sound
        self.dropped = False
        self.heard_before = HeardText()  # sentences that were heard from an earlier process
        self.is_question_heard = False  # its last question is one of them
        self.before_sound: Callable[[Speech], None] = lambda speech: None  # noqa: ARG005 - called before sound is sent
        self._has_started = False  # from its start on, the line gets its sound whenever the state machine plays it
        self._is_end_saved = False  # it was dumped after it was complete
        self._finished = False  # the line was told that no more sound follows
        self._queue: list[tuple[int, Sound]] = []
        self._room = Flag()

    def dump(self) -> OpenSpeech:
        self._is_end_saved = self.complete
        return OpenSpeech(self.reply, self.voice, self.ledger.dump(), self.complete)

    @classmethod
    def load(cls, data: OpenSpeech) -> Speech:
        """Make a speech from what `dump` returned. No more sound is added to it, even if it isn't complete. Raises
        NotRestorable for invalid data."""
        speech = cls(data.reply)
        speech.voice = data.voice
        with reading("the reply that was playing"):
            speech.ledger = Ledger.load(data.ledger)
        speech.complete = data.complete
        return speech

    # -- From the brain's side

    async def has_room(self) -> None:
        """Wait until there is room for more sound, which is when at most AHEAD_MS_MAX of the sound so far is still
        unheard."""
        while self.ledger.total_ms - self.ledger.heard_ms > AHEAD_MS_MAX:
            self._room.clear()
            await self._room.wait()

    def add(self, sound: Sound, line: GuardedLine) -> None:
        self._queue.append((self.ledger.add(sound), sound))
        self._flush(line)

    def end(self, line: GuardedLine) -> None:
        """Mark the sound as complete: no more sound will be added."""
        self.complete = True
        self._flush(line)

    def save_end(self, save: Callable[[], None]) -> None:
        """Call `save` if the reply's sound has become complete since it was last saved: a process that takes over must
        know that no more follows. Does nothing before the sound has started, because `play` then makes sure that it is
        saved or that the client gets a receipt."""
        if self.complete and self._has_started and not self._is_end_saved:
            save()

    # -- From the state machine's side

    def play(self, voice: int, line: GuardedLine) -> None:
        self.voice = voice
        self._has_started = True
        self._flush(line)

    def hold(self, line: GuardedLine) -> None:
        line.hold(self.voice)

    def resume(self, line: GuardedLine) -> None:
        line.resume(self.voice)
        self._flush(line)

    def drop(self) -> None:
        """Drop the queued sound, and play no more of this reply."""
        self.dropped = True
        self._queue.clear()

    def _flush(self, line: GuardedLine) -> None:
        if not self._has_started or self.dropped or not line.may_play:
            return
        if self._queue or (self.complete and not self._finished):
            self.before_sound(self)
        while self._queue and not self.dropped:
            if not line.play(self.voice, *self._queue.pop(0)):
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
        """Has all of the sound been passed to the line?"""
        return self._finished
