"""Synthesises a sentence in a thread, for a reader in the event loop.

Synthesis on this machine is much faster than speech. So a sentence is synthesised completely, even if its reader is
slow. A slow reader never delays other readers, and at most one sentence is buffered for it. Rule: after a reader has
stopped reading, the synthesis is told to stop when it sends its next piece of sound.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor
from typing import TypeAlias

from duologue.ports.sound import Sound

Send: TypeAlias = Callable[[list[Sound]], bool]
"""Passes sounds to the reader. Returns False if the reader has stopped reading; then the synthesis must end."""
Make: TypeAlias = Callable[[Send], None]
"""Synthesises one sentence. It is called in the thread, and may raise an exception."""

LATE_S = 10.0  # a sentence takes some tens of milliseconds


class _Sentence:
    def __init__(self, make: Make) -> None:
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._is_abandoned = False
        self.is_running = False  # changed only in the thread
        self.sounds: asyncio.Queue[list[Sound] | BaseException | None] = asyncio.Queue()  # None: the end

    def leave(self) -> None:
        self._is_abandoned = True

    def run(self) -> None:
        if self._is_abandoned:
            return
        self.is_running = True
        try:
            self._make(self._send)
            self._put(None)
        except BaseException as failure:  # noqa: BLE001 - the reader gets it
            self._put(failure)
        self.is_running = False

    def _send(self, sounds: list[Sound]) -> bool:
        if sounds and not self._is_abandoned:
            self._put(sounds)
        return not self._is_abandoned and not self._loop.is_closed()

    def _put(self, news: list[Sound] | BaseException | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self.sounds.put_nowait, news)
        except RuntimeError:  # the loop is closed, so the reader is gone
            self._is_abandoned = True


async def read_sentence(
    threads: Executor, make: Make, end_late: Callable[[], None] | None = None
) -> AsyncGenerator[Sound, None]:
    """Run `make` in a thread, and yield the sounds that it sends. If `make` still runs after LATE_S seconds, `end_late`
    is called, which must end the synthesis."""
    loop, sentence = asyncio.get_running_loop(), _Sentence(make)
    made = loop.run_in_executor(threads, sentence.run)
    late = loop.call_later(LATE_S, lambda: end_late() if end_late and sentence.is_running else None)
    try:
        while (news := await sentence.sounds.get()) is not None:
            if isinstance(news, BaseException):
                raise news
            for sound in news:
                yield sound
    finally:
        sentence.leave()
        if not loop.is_closed():
            made.cancel()  # has an effect only if the synthesis has not started
        if not sentence.is_running:  # otherwise it may hang, although its reader is gone
            late.cancel()
