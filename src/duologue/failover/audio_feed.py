"""Passes the audio of a conversation to several services, one after another.

While an utterance is open, its audio is kept, so that the next service can hear it again if the current one fails.
Rule: the length of the kept audio is limited. Markers such as `Commit` are given to one service only.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

from duologue.ports.ears import Commit, Frame, Incoming

KEPT_FRAMES_MAX = 1_000  # about 20 s
QUIET_FRAMES = 25  # before an onset: the service that failed may have heard the first sound late


class AudioFeed:
    """Reads the audio one time, and passes it to the service that is listening at the moment."""

    def __init__(self, audio: AsyncIterator[Incoming]) -> None:
        self._audio = audio
        self._kept: deque[Frame] = deque(maxlen=KEPT_FRAMES_MAX)
        self._queue: asyncio.Queue[Incoming | None] = asyncio.Queue()
        self._waiting: list[Incoming] = []  # what came after a cut
        self.on_commit: Callable[[], None] = lambda: None
        self.is_needed = False  # is an utterance open?
        self.is_cut = False
        self.has_ended = False

    async def pump(self) -> None:
        """Read the audio to its end."""
        async for item in self._audio:
            self._take(item)
        self.has_ended = True
        self._queue.put_nowait(None)

    def open(self) -> AsyncIterator[Incoming]:
        """Return the audio for the next service, which gets all audio from now on: first the kept audio of an open
        utterance, if there is one, then new audio."""
        again = list(self._kept) if self.is_needed else []
        self._queue = asyncio.Queue()
        for item in (*again, *self._waiting):
            self._queue.put_nowait(item)
        self._waiting.clear()
        self.is_cut = False
        if self.has_ended:
            self._queue.put_nowait(None)
        return _read(self._queue)

    def cut(self) -> None:
        """End the audio of the current service. Later audio waits for the next service."""
        self.is_cut = True
        self._queue.put_nowait(None)

    def _take(self, item: Incoming) -> None:
        if isinstance(item, Frame):
            self._kept.append(item)
            while not self.is_needed and len(self._kept) > QUIET_FRAMES:
                self._kept.popleft()
        if self.is_cut:
            self._waiting.append(item)
            return
        self._queue.put_nowait(item)
        if isinstance(item, Commit):
            self.on_commit()


async def _read(queue: asyncio.Queue[Incoming | None]) -> AsyncIterator[Incoming]:
    while (item := await queue.get()) is not None:
        yield item
