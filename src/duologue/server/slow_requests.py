"""Closes connections that open a request and don't finish it. A part of uvicorn's HTTP protocol.

A connection may wait between two requests as long as uvicorn allows. From its opening, and from the first byte of each
further request, its head must be complete within `request_s_max`. The body is limited by `BodyTimeout`. Rule: uvicorn's
protocol is used through asyncio's interface only, except for its attribute `app`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect

Receive = Callable[[], Awaitable[Any]]
LATE = b"The request took too long to arrive.\n"


class TimedRequests(asyncio.Protocol):
    """Mixed into an HTTP protocol. `request_s_max` is set by `timed`."""

    app: Callable[..., Any]
    request_s_max = 15.0

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._timed_transport: Any = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._answering = 0
        inner = self.app

        async def answer(scope: Any, receive: Any, send: Any) -> Any:
            self._stop_timer()
            self._answering += 1
            try:
                return await inner(scope, receive, send)
            finally:
                self._answering -= 1

        self.app = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._timed_transport = transport
        self._start_timer()
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._head_timer is None and not self._answering:
            self._start_timer()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        loop = asyncio.get_running_loop()
        self._head_timer = loop.call_later(self.request_s_max, self._close_slow)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_slow(self) -> None:
        """The head didn't come in time. A connection that became a WebSocket has another protocol now."""
        self._head_timer = None
        transport = self._timed_transport
        if transport.get_protocol() is self and not self._answering:
            head = f"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: {len(LATE)}\r\n\r\n"
            transport.write(head.encode() + LATE)
            transport.close()


def timed(protocol: type[Any], request_s_max: float) -> type[Any]:
    """This HTTP protocol, with a limit on the time that the head of a request may take."""
    return type("TimedHttp", (TimedRequests, protocol), {"request_s_max": request_s_max})


class BodyTimeout:
    """An ASGI application around another one: the body of a request must arrive within `request_s_max`."""

    def __init__(self, app: Callable[..., Awaitable[None]], request_s_max: float) -> None:
        self._app = app
        self._request_s_max = request_s_max

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        until_s = asyncio.get_running_loop().time() + self._request_s_max
        is_whole = is_late = False

        async def receive_in_time() -> Any:
            nonlocal is_whole, is_late
            if is_whole:  # only a disconnect may follow, and that may take as long as the answer
                return await receive()
            try:
                async with asyncio.timeout_at(until_s):
                    message = await receive()
            except TimeoutError:
                is_late = True
                await _send_late(send)
                return {"type": "http.disconnect"}
            is_whole = not message.get("more_body", False)
            return message

        async def send_unless_late(message: Any) -> None:
            if not is_late:
                await send(message)

        try:
            await self._app(scope, receive_in_time, send_unless_late)
        except ClientDisconnect:
            if not is_late:
                raise


async def _send_late(send: Any) -> None:
    headers = [(b"connection", b"close"), (b"content-length", str(len(LATE)).encode())]
    await send({"type": "http.response.start", "status": 408, "headers": headers})
    await send({"type": "http.response.body", "body": LATE})
