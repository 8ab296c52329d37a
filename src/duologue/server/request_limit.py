"""Limits how often one address may send HTTP requests, and how many frames a client may send over a WebSocket.

A limit on connections isn't enough, because a client may send many requests over one connection. A limit on messages
isn't enough either, because the application sees only whole messages, and no frames. Rule: to refuse a request, the
server does nothing but send a fixed answer, and closes the connection, so the next request counts as a connection too.
A trusted proxy keeps its connection, because other callers use it as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from .access_control import AccessControl
from .direct_messages import DIRECT_KEY
from .message_limits import UNKNOWN_BYTES_MAX, UNKNOWN_FRAMES, frames_rate
from .settings import Limits

REFUSAL = b"Your address sends requests too often: try again in a few seconds.\n"
_HEADERS = [
    (b"content-type", b"text/plain"),
    (b"content-length", str(len(REFUSAL)).encode()),
    (b"retry-after", b"5"),
]


class RequestLimit:
    """ASGI middleware that applies the limit to the requests and sockets of a server."""

    def __init__(self, app: Callable[..., Awaitable[None]], access: AccessControl, limits: Limits) -> None:
        self._app = app
        self._access = access
        self._frames = frames_rate(limits)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "websocket" and (direct := scope.get(DIRECT_KEY)) is not None:
            direct.limit_frames(UNKNOWN_FRAMES, self._frames, UNKNOWN_BYTES_MAX, self._access.note_flood)
        if scope["type"] == "http" and not self._access.may_request(scope):
            closing = [] if self._access.is_from_proxy(scope) else [(b"connection", b"close")]
            await send({"type": "http.response.start", "status": 429, "headers": [*_HEADERS, *closing]})
            await send({"type": "http.response.body", "body": REFUSAL})
            return
        await self._app(scope, receive, send)
