"""One response on its way to whoever asked for it.

Rule: it ends exactly once, well or with a failure, and what comes after that is dropped.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from duologue.core.leaves import ErrorClass
from duologue.ports.brain import Part
from duologue.ports.failure import ServiceError

from .failures import failure_of, told
from .item_audio import ItemAudio
from .server_events import ItemBegan, ItemEnded, OfResponse, ResponseEnded, SoundCame, TextCame, WordsCame

if TYPE_CHECKING:
    from .client_events import ClientEvent


class RealtimeAnswer:
    """What one request brings. `is_aside`: it goes beside the conversation and leaves nothing in it."""

    def __init__(self, name: str, create: ClientEvent, reply: int = 0, is_aside: bool = False) -> None:
        self.name = name
        self.create = create
        self.reply = reply
        self.is_aside = is_aside
        self.response = ""
        self.tries = 0
        self.is_waiting = False  # for another response to end, before it is asked again
        self.is_left = False  # nobody wants it any more
        self.is_over = False
        self.said = False  # has anything been handed on?
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._items: dict[str, bool] = {}  # item -> is it over?
        self._sounds: dict[str, ItemAudio] = {}
        self._calls: dict[str, None] = {}
        self._parts: asyncio.Queue[Part | ServiceError | None] = asyncio.Queue()

    async def next(self) -> Part | None:
        """The next part; None at the end. Raises if it failed."""
        part = await self._parts.get()
        if isinstance(part, ServiceError):
            raise part
        return part

    @property
    def is_at_tail(self) -> bool:
        """Is every item that it began over, and only its own end missing?"""
        return bool(self._items) and all(self._items.values())

    def begin(self, response: str) -> None:
        self.response = response
        self.is_waiting = False
        if not self.begun.done():
            self.begun.set_result(None)

    def fail(self, failure: ServiceError) -> None:
        self._end(failure)

    def take(self, happened: OfResponse) -> None:
        """Something of this response."""
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
        if part and not self.is_over and not self.is_left:
            self.said = True
            self._parts.put_nowait(part)

    def _finish(self, ended: ResponseEnded) -> None:
        for item in list(self._sounds):
            self._end_item(item)
        for item, call in ended.calls:
            self.take(ItemEnded(ended.response, item, call))
        self._end(self._failure_of(ended))

    def _failure_of(self, ended: ResponseEnded) -> ServiceError | None:
        """An answer that was begun stands, if it was only cut short."""
        if ended.status == "failed":
            return told(ended.code or "server_error")
        if self.said or ended.status == "completed":
            return None
        if ended.reason == "content_filter":  # asked again it would be filtered again
            return failure_of(ErrorClass.UNKNOWN, ended.reason)
        return failure_of(ErrorClass.SERVER_ERROR, ended.reason or ended.status)

    def end_unheard(self) -> None:
        """Its items are complete and its end never came."""
        for item in list(self._sounds):
            self._end_item(item)
        self._end(None)

    def _end(self, failure: ServiceError | None) -> None:
        if not self.is_over:
            self.is_over = True
            self._parts.put_nowait(failure)
            if not self.begun.done():
                self.begun.set_result(None)
