"""One answer from the server, passed on part by part to the code that requested it.

Rule: an answer ends exactly once, normally or with a failure. Parts that arrive later are dropped.
"""

from __future__ import annotations

import asyncio

from duologue.brains.realtime.item_audio import ItemAudio
from duologue.core.leaves import ErrorClass
from duologue.ports.brain import Part
from duologue.ports.failure import ServiceError
from duologue.ports.tool_call import ToolCall

from .failures import failure_of
from .server_messages import ModelCalls, ModelSound, ModelWords

_REJECTED = ("RESPONSE_REJECTED", "PROHIBITED", "BLOCKLIST", "SAFETY", "NCII", "INPUT_OTHER", "GENERATED_OTHER")


class GeminiAnswer:
    """The server's answer to one request. `reply` is the number of the agent's reply that this answer becomes; 0 while
    that number isn't known."""

    def __init__(self, reply: int = 0) -> None:
        self.reply = reply
        self.is_over = False
        self.said = False  # has any part been delivered?
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._audio = ItemAudio()
        self._parts: asyncio.Queue[Part | ServiceError | None] = asyncio.Queue()

    async def next(self) -> Part | None:
        """The next part of the answer; None at its end. Raises ServiceError if the answer failed."""
        part = await self._parts.get()
        if isinstance(part, ServiceError):
            raise part
        return part

    def take(self, came: ModelSound | ModelWords | ModelCalls) -> None:
        """Process the next piece of this answer that has arrived."""
        self._begin()
        match came:
            case ModelSound():
                self._put(self._audio.add(came.pcm))
            case ModelWords():
                self._audio.add_words(came.text)
            case ModelCalls():
                self._put(self._audio.rest())
                for call in came.calls:
                    self._put(call)

    def finish(self, reason: str = "") -> None:
        """End the answer, because the server has sent all of it. An answer without any part fails. `reason` is the
        server's reason for an unusual end, such as RESPONSE_REJECTED."""
        if self.is_over:
            return
        self._put(self._audio.rest())
        if self.said:
            self._end(None)
        elif any(word in reason for word in _REJECTED):  # a retry would be rejected again
            self._end(failure_of(ErrorClass.UNKNOWN, "the answer was rejected"))
        else:
            self._end(failure_of(ErrorClass.SERVER_ERROR, "an empty answer"))

    def fail(self, failure: ServiceError) -> None:
        self._end(failure)

    def _put(self, part: Part | ToolCall | None) -> None:
        if part and not self.is_over:
            self.said = True
            self._parts.put_nowait(part)

    def _begin(self) -> None:
        if not self.begun.done():
            self.begun.set_result(None)

    def _end(self, failure: ServiceError | None) -> None:
        if not self.is_over:
            self.is_over = True
            self._parts.put_nowait(failure)
            self._begin()
