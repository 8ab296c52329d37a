"""Limits how often one address may send HTTP requests, and how many frames a client may send over a WebSocket.

A limit on connections isn't enough, because a client may send many requests over one connection. A limit on messages
isn't enough either, because the application sees only whole messages, and no frames. Rule: to refuse a request, the
server does nothing but send a fixed answer, and closes the connection, so the next request counts as a connection too.
A trusted proxy keeps its connection, because other callers use it as well. A file of the panel counts as a quarter of a
request, because the page needs many of them, and they are served from memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from duologue.fairness.fair_queue import QueueFull

from .access_control import AccessControl
from .direct_messages import DIRECT_KEY
from .file_pace import FilePace
from .message_limits import UNKNOWN_BYTES_MAX, UNKNOWN_FRAMES, frames_rate
from .settings import Limits

REFUSAL = b"Your address sends requests too often: try again in a few seconds.\n"
_HEADERS = [
    (b"content-type", b"text/plain"),
    (b"content-length", str(len(REFUSAL)).encode()),
    (b"retry-after", b"5"),
]


class RequestLimit:
    """ASGI middleware that applies the limit to the requests and sockets of a server. `is_file` says whether a request
    is for a file that is in memory."""

    def __init__(
        self,
        app: Callable[..., Awaitable[None]],
        access: AccessControl,
        limits: Limits,
        is_file: Callable[[dict[str, Any]], bool],
    ) -> None:
        self._app = app
        self._access = access
        self._is_file = is_file
        self._pace = FilePace()
        self._frames = frames_rate(limits)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "websocket" and (direct := scope.get(DIRECT_KEY)) is not None:
            direct.limit_frames(UNKNOWN_FRAMES, self._frames, UNKNOWN_BYTES_MAX, self._access.note_flood)
        if scope["type"] == "http" and not await self._may_answer(scope):
            closing = [] if self._access.is_from_proxy(scope) else [(b"connection", b"close")]
            await send({"type": "http.response.start", "status": 429, "headers": [*_HEADERS, *closing]})
            await send({"type": "http.response.body", "body": REFUSAL})
            return
        await self._app(scope, receive, send)

    async def _may_answer(self, scope: dict[str, Any]) -> bool:
        """Count the request. If it is for a file and many files are being sent, wait. Returns whether the request may
        be answered."""
        is_file = self._is_file(scope)
        if not self._access.may_request(scope, is_file):
            return False
        try:
            if is_file:
                await self._pace.wait(self._access.address_of(scope))
        except QueueFull:
            self._access.note_files_refused()
            return False
        return True
