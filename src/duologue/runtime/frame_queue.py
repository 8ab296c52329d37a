"""A bounded queue of audio for the ears. When it is full, the oldest frame is dropped.

Markers, such as the end of a turn, are never dropped. Rule: the line (the connection to the user) never waits for the
ears (STT and VAD).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from duologue.ports.ears import Frame, Incoming

FRAMES_MAX = 250  # five seconds of 20 ms frames


class FrameQueue:
    """An async iterator over frames and markers. The iteration ends when the queue is closed and empty. Instead of
    iterating, a consumer may pass a function to `push_to`. The function is called with each frame and marker as it
    arrives."""

    def __init__(self, frames_max: int = FRAMES_MAX) -> None:
        self._queue: deque[Incoming] = deque()
        self._max = frames_max
        self._frames = 0
        self._waiter: asyncio.Future[None] | None = None
        self._take: Callable[[Incoming], None] | None = None  # the consumer that is called
        self._closed = False
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, item: Incoming) -> None:
        """Add a frame or a marker. If a frame is added to a full queue, the oldest frame is dropped."""
        if self._closed:
            return
        if self._take is not None:
            self._give(item, self._take)
            return
        if type(item) is Frame:
            if self._frames >= self._max:
                self._drop_oldest()
            self._frames += 1
        self._queue.append(item)
        self._wake()

    def close(self) -> None:
        self._closed = True
        self._wake()

    def _drop_oldest(self) -> None:
        for index, item in enumerate(self._queue):
            if type(item) is Frame:
                del self._queue[index]
                self._frames -= 1
                self.dropped += 1
                return

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def push_to(self, take: Callable[[Incoming], None]) -> None:
        """Call `take` with each frame and marker as soon as it arrives. Returns when the queue is closed."""
        while self._queue:
            take(self._pop())
        self._take = take
        try:
            if not self._closed:
                await self._wait()
        finally:
            self._take = None

    def _give(self, item: Incoming, take: Callable[[Incoming], None]) -> None:
        """Call the consumer with a frame or a marker. If the consumer raises an exception, it isn't called again, and
        `push_to` raises the exception; `put` doesn't."""
        try:
            take(item)
        except Exception as failure:  # noqa: BLE001 - raised by `push_to`
            self._take = None
            if self._waiter is not None and not self._waiter.done():
                self._waiter.set_exception(failure)

    def __aiter__(self) -> FrameQueue:
        return self

    async def __anext__(self) -> Incoming:
        while not self._queue:
            if self._closed:
                raise StopAsyncIteration
            await self._wait()
        return self._pop()

    async def _wait(self) -> None:
        """Wait until `_wake` is called."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _pop(self) -> Incoming:
        item = self._queue.popleft()
        if type(item) is Frame:
            self._frames -= 1
        return item
