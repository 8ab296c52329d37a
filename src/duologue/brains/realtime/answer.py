"""One response from the server, passed on part by part to the code that requested it.

Rule: a response ends exactly once, normally or with a failure. Events that arrive later are dropped.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from duologue.core.leaves import ErrorClass
from duologue.ports.brain import Part
from duologue.ports.failure import ServiceError

from .failures import failure_of, failure_of_code
from .item_audio import ItemAudio
from .server_events import ItemBegan, ItemEnded, OfResponse, ResponseEnded, SoundCame, TextCame, WordsCame

if TYPE_CHECKING:
    from .client_events import ClientEvent


class RealtimeAnswer:
    """The server's answer to one request. An out-of-band answer, such as a summary, isn't added to the server's copy of
    the conversation."""

    def __init__(self, name: str, create: ClientEvent, reply: int = 0, is_out_of_band: bool = False) -> None:
        self.name = name
        self.create = create
        self.reply = reply
        self.is_out_of_band = is_out_of_band
        self.response = ""
        self.tries = 0
        self.is_waiting = False  # the request waits until another response ends, and is then sent again
        self.is_abandoned = False  # the reader has gone away
        self.is_over = False
        self.said = False  # has any part been delivered?
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._items: dict[str, bool] = {}  # item -> is it over?
        self._sounds: dict[str, ItemAudio] = {}
        self._calls: dict[str, None] = {}
        self._parts: asyncio.Queue[Part | ServiceError | None] = asyncio.Queue()

    async def next(self) -> Part | None:
        """The next part of the answer; None at its end. Raises ServiceError if the response failed."""
        part = await self._parts.get()
        if isinstance(part, ServiceError):
            raise part
        return part

    @property
    def is_at_tail(self) -> bool:
        """Have all items of the response ended, so that only the event that ends the response itself is missing?"""
        return bool(self._items) and all(self._items.values())

    def begin(self, response: str) -> None:
        self.response = response
        self.is_waiting = False
        if not self.begun.done():
            self.begun.set_result(None)

    def fail(self, failure: ServiceError) -> None:
        self._end(failure)

    def take(self, happened: OfResponse) -> None:
        """Process an event of this response."""
        match happened:
            case ItemBegan(_, item, _):
                self._items.setdefault(item, False)
            case SoundCame(_, item, pcm):
                self._put(self._sound_of(item).add(pcm))
            case WordsCame(_, item, text):
                self._sound_of(item).add_words(text)
            case TextCame(_, _, text):
                self._put(text)
            case ItemEnded(_, item, call):
                self._items[item] = True
                self._end_item(item)
                if call is not None and call.id not in self._calls:
                    self._calls[call.id] = None
                    self._put(call)
            case ResponseEnded():
                self._finish(happened)

    def _sound_of(self, item: str) -> ItemAudio:
        if item not in self._sounds:
            self._sounds[item] = ItemAudio()
        return self._sounds[item]

    def _end_item(self, item: str) -> None:
        sounds = self._sounds.pop(item, None)
        if sounds is not None:
            self._put(sounds.rest())

    def _put(self, part: Part | None) -> None:
        if part and not self.is_over and not self.is_abandoned:
            self.said = True
            self._parts.put_nowait(part)

    def _finish(self, ended: ResponseEnded) -> None:
        for item in list(self._sounds):
            self._end_item(item)
        for item, call in ended.calls:
            self.take(ItemEnded(ended.response, item, call))
        self._end(self._failure_of(ended))

    def _failure_of(self, ended: ResponseEnded) -> ServiceError | None:
        """The error with which this response ended. None if the response is complete, or if it ended early after its
        first part without an error from the server."""
        if ended.status == "failed":
            return failure_of_code(ended.code or "server_error")
        if self.said or ended.status == "completed":
            return None
        if ended.reason == "content_filter":  # a retry would be filtered again
            return failure_of(ErrorClass.UNKNOWN, ended.reason)
        return failure_of(ErrorClass.SERVER_ERROR, ended.reason or ended.status)

    def end_without_event(self) -> None:
        """End the answer normally, although the server never sent the event for its end. Call this only if all items of
        the answer are complete."""
        for item in list(self._sounds):
            self._end_item(item)
        self._end(None)

    def _end(self, failure: ServiceError | None) -> None:
        if not self.is_over:
            self.is_over = True
            self._parts.put_nowait(failure)
            if not self.begun.done():
                self.begun.set_result(None)
