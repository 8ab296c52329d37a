"""Closes the connections of clients that connect too often, or that send their requests too slowly. Used as a part of
uvicorn's HTTP protocol class.

If a client connects too often, its connection never reaches uvicorn's protocol. On any other connection, the head of
the first request must be complete within `request_s_max` seconds after the connection was opened. The head of each
further request must be complete within the same time after its first byte. Between two requests, a connection may wait
as long as uvicorn allows. `BodyTimeout` limits the time for the body. Rule: uvicorn's protocol is used through
asyncio's interface only, except for its attribute `app`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect

from .connection_limit import RESPONSE

Receive = Callable[[], Awaitable[Any]]
MayOpen = Callable[[str], bool]
LATE = b"The request took too long to arrive.\n"
PIPELINED_MAX = 50  # requests that come together, before the first of them is answered
_VERSION = b" HTTP/1."  # at the end of the first line of a request
REFUSED_S_MAX = 1.0  # a connection that is refused and sends nothing is closed then


def _always(_peer: str) -> bool:
    return True


def _peer(transport: asyncio.BaseTransport) -> str:
    name = transport.get_extra_info("peername")
    return str(name[0]) if name else ""


class TimedRequests(asyncio.Protocol):
    """A mixin for an HTTP protocol class. `timed` sets `request_s_max` and `may_open`."""

    app: Callable[..., Any]
    request_s_max = 15.0
    may_open = staticmethod(_always)

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._timed_transport: Any = None
        self._head_timer: asyncio.TimerHandle | None = None
        self._answering = 0
        self._is_refused = False
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
        self._is_refused = not self._is_handed() and not self.may_open(_peer(transport))
        self._start_timer()
        if not self._is_refused:
            super().connection_made(transport)

    def _is_handed(self) -> bool:
        """Did the connection come from another process of this server, which has already counted it?"""
        arrival = getattr(self, "arrival", None)
        return arrival is not None and bool(arrival.is_handed)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:  # only now, so that the client reads the answer: an unread request would reset it
            self._timed_transport.write(RESPONSE)
            self._timed_transport.close()
            return
        if data.count(_VERSION) > PIPELINED_MAX:  # each of them would be parsed before any other client is served
            self._timed_transport.write(RESPONSE)
            self._timed_transport.close()
            self._is_refused = True
            super().connection_lost(None)
            return
        if self._head_timer is None and not self._answering:
            self._start_timer()
        super().data_received(data)
        if self._timed_transport.get_protocol() is not self:  # a WebSocket now: the timer would keep this object alive
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        if not self._is_refused:
            super().connection_lost(exc)

    def eof_received(self) -> bool | None:
        return None if self._is_refused else super().eof_received()

    def _start_timer(self) -> None:
        loop = asyncio.get_running_loop()
        self._head_timer = loop.call_later(REFUSED_S_MAX if self._is_refused else self.request_s_max, self._close_slow)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_slow(self) -> None:
        """Close the connection, because the head of a request didn't come in time. A connection that has become a
        WebSocket stays open, because it is no longer an HTTP connection."""
        self._head_timer = None
        transport = self._timed_transport
        if self._is_refused:
            transport.close()
        elif transport.get_protocol() is self and not self._answering:
            head = f"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: {len(LATE)}\r\n\r\n"
            transport.write(head.encode() + LATE)
            transport.close()


def timed(protocol: type[Any], request_s_max: float, may_open: MayOpen = _always) -> type[Any]:
    """A subclass of this HTTP protocol class that limits how long the head of a request may take. When a connection is
    opened, `may_open` is called with the peer's address, and returns whether the connection is served."""
    limits = {"request_s_max": request_s_max, "may_open": staticmethod(may_open)}
    return type("TimedHttp", (TimedRequests, protocol), limits)


class BodyTimeout:
    """An ASGI application that wraps another one. A request whose body doesn't arrive within `request_s_max` seconds is
    answered with status 408."""

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
