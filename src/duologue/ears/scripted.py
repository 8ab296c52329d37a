"""Ears for simulations and tests: they report what a script tells them to report.

The script calls `tell`. Apart from that, these ears behave like real ones. Rule: what a script tells them before
`listen` runs is queued, and reported when `listen` starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from duologue.ports.ears import Commit, Discard, Frame, Heard, Incoming, PushedAudio


class ScriptedEars:
    """The ears of one conversation. `commits`, `discards` and `frames` record what the ears received. `starts` counts
    how often `listen` was called."""

    def __init__(self) -> None:
        self._told: asyncio.Queue[Heard | BaseException] = asyncio.Queue()
        self.commits: list[Commit] = []
        self.discards: list[Discard] = []
        self.frames = 0
        self.starts = 0

    def tell(self, heard: Heard) -> None:
        """Make `listen` report this."""
        self._told.put_nowait(heard)

    def fail(self, failure: BaseException) -> None:
        """Make `listen` raise this exception."""
        self._told.put_nowait(failure)

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        """Yield the reports that the script has passed to `tell`. Record the commits, the discards and the number of
        frames in the audio."""
        self.starts += 1
        reader = asyncio.ensure_future(self._read(audio))
        try:
            while True:
                heard = await self._told.get()
                if isinstance(heard, BaseException):
                    raise heard
                yield heard
        finally:
            reader.cancel()

    async def _read(self, audio: AsyncIterator[Incoming]) -> None:
        if isinstance(audio, PushedAudio):
            await audio.push_to(self._take)
            return
        async for item in audio:
            self._take(item)

    def _take(self, item: Incoming) -> None:
        match item:
            case Frame():
                self.frames += 1
            case Commit():
                self.commits.append(item)
            case Discard():
                self.discards.append(item)
