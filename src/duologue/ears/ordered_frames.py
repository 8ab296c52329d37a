"""Handles the frames and markers of one stream in order: everything that arrives after a frame waits until the frame is
judged.

To judge a frame means to find out whether it contains speech. This happens in the next pass of the event loop, together
with frames of other streams. Rule: no task or future is created for a frame. The reader of the stream has to wait only
if many frames are waiting to be judged. If the reader can't wait, frames are dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from .frame_pairs import FramePair
from .model_input import Samples
from .vad_batch import Answer

T = TypeVar("T")

AHEAD_MAX = 8  # items that may wait: a line that sends a second of audio at once is read piece by piece
WAITING_MAX = 160  # if more items than this wait, the oldest frame is dropped: five seconds of audio


class OrderedFrames(Generic[T]):
    """The frames and markers of one stream. `judge` is called with each frame that has to be judged. `follow` is called
    with each judged frame, and `take` is called with each marker. If one of these functions raises an exception, `fail`
    is called with the exception, and the stream stops."""

    def __init__(
        self,
        judge: Callable[[Samples, Answer], None],
        follow: Callable[[FramePair, float, Exception | None], None],
        take: Callable[[T], None],
        fail: Callable[[Exception], None],
    ) -> None:
        self._judge = judge
        self._follow = follow
        self._take = take
        self._fail = fail
        self._waiting: deque[FramePair | T] = deque()
        self._judged: FramePair | None = None  # the frame whose probability isn't known yet
        self._is_going = False
        self._is_stopped = False
        self._reader: asyncio.Future[None] | None = None

    def put(self, item: FramePair | T) -> None:
        """Add the next frame or marker."""
        self._waiting.append(item)
        if len(self._waiting) > WAITING_MAX:
            self._drop_oldest()
        if self._judged is None:
            self._go_on()

    async def settle(self, ahead_max: int = AHEAD_MAX) -> None:
        """Wait until at most this many items are queued."""
        while len(self._waiting) + (self._judged is not None) > ahead_max and not self._is_stopped:
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None

    @property
    def is_ahead(self) -> bool:
        """Should the reader wait?"""
        return len(self._waiting) > AHEAD_MAX

    def stop(self) -> None:
        """Drop all queued items, and accept no more."""
        self._is_stopped = True
        self._waiting.clear()
        self._judged = None
        self._wake_reader()

    def _drop_oldest(self) -> None:
        for place, item in enumerate(self._waiting):
            if isinstance(item, FramePair):
                del self._waiting[place]
                return

    def _go_on(self) -> None:
        if self._is_going:
            return  # the frame was judged at once, and the loop below goes on
        self._is_going = True
        try:
            while self._waiting and self._judged is None and not self._is_stopped:
                item = self._waiting.popleft()
                if isinstance(item, FramePair):
                    self._judged = item
                    self._judge(item.heard, self._note)
                else:
                    self._take(item)
        except Exception as failure:  # noqa: BLE001 - passed on
            self.stop()
            self._fail(failure)
        self._is_going = False
        self._wake_reader()

    def _wake_reader(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _note(self, probability: float, failure: Exception | None) -> None:
        pair, self._judged = self._judged, None
        if pair is None:
            return  # stopped meanwhile
        try:
            self._follow(pair, probability, failure)
        except Exception as raised:  # noqa: BLE001 - passed on
            self.stop()
            self._fail(raised)
        self._go_on()
