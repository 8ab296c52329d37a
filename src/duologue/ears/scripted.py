"""Ears that hear what they are told to: for simulations and tests.

`tell` is what a script calls; everything else is like real ears. Rule: what was told while nobody
listened is heard when somebody does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from duologue.ports.ears import Commit, Discard, Frame, Heard, Incoming


class ScriptedEars:
    """One conversation's ears."""

    def __init__(self) -> None:
        self._told: asyncio.Queue[Heard | BaseException] = asyncio.Queue()
        self.commits: list[Commit] = []
        self.discards: list[Discard] = []
        self.frames = 0
        self.starts = 0

    def tell(self, heard: Heard) -> None:
        """Hear this now."""
        self._told.put_nowait(heard)

    def fail(self, failure: BaseException) -> None:
        """Break down now."""
        self._told.put_nowait(failure)

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
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
