"""Answers requests that the server cancels because it stops.

When its time to stop is over, uvicorn cancels the requests that still run. Rule: such a request is answered with 503;
if its answer had begun already, the connection is closed instead. This isn't an error of the server, so no traceback is
logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

STOPPING = b"The server is stopping: try again later.\n"


class StoppedRequests:
    """ASGI middleware that ends requests which are cancelled."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def noted(event: dict[str, Any]) -> None:
            nonlocal has_begun
            has_begun = True
            await send(event)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if not has_begun:
                await _send_stopping(send)


async def _send_stopping(send: Callable[[Any], Awaitable[None]]) -> None:
    headers = [(b"connection", b"close"), (b"content-length", str(len(STOPPING)).encode())]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": STOPPING})
