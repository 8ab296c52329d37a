"""Ears that report what a script says: for simulations and tests.

A script calls `tell`; everything else is like real ears. Rule: what a script tells before `listen` runs is queued, and
reported when it does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from duologue.ports.ears import Commit, Discard, Frame, Heard, Incoming


class ScriptedEars:
    """The ears of one conversation. `commits`, `discards` and `frames` record what they were sent."""

    def __init__(self) -> None:
        self._told: asyncio.Queue[Heard | BaseException] = asyncio.Queue()
        self.commits: list[Commit] = []
        self.discards: list[Discard] = []
        self.frames = 0
        self.starts = 0

    def tell(self, heard: Heard) -> None:
        """Report this now."""
        self._told.put_nowait(heard)

    def fail(self, failure: BaseException) -> None:
        """Make `listen` raise this now."""
        self._told.put_nowait(failure)

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        """Yield what the script tells, and count what the audio holds."""
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
        async for item in audio:
            match item:
                case Frame():
                    self.frames += 1
                case Commit():
                    self.commits.append(item)
                case Discard():
                    self.discards.append(item)
