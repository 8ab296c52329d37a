"""Closes the connections of clients that connect too often, that send their requests too slowly or in a form that is
slow to parse, or that don't read the answers. Used as a part of uvicorn's HTTP protocol class.

If a client connects too often, its connection never reaches uvicorn's protocol. On any other connection, the head of
the first request must be complete within `request_s_max` seconds after the connection was opened. The head of each
further request must be complete within the same time after its first byte. Between two requests, a connection may wait
as long as uvicorn allows. `RequestHeads` limits the heads, and `BodyTimeout` the time for the body. What is sent must
be read within `answer_s_max` seconds. Rule: uvicorn's protocol is used through asyncio's interface only, except for its
attribute `app`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect

from .connection_limit import RESPONSE
from .request_heads import HeadRefused, RequestHeads

Receive = Callable[[], Awaitable[Any]]
MayOpen = Callable[[str], bool]
NoteRefused = Callable[[str], None]
HEADS = "heads"  # the limits that refuse something here
REQUEST_TIME = "request_time"
ANSWER_TIME = "answer_time"
LATE = b"The request took too long to arrive.\n"
REFUSED_S_MAX = 1.0  # a connection that is refused is closed then
REFUSED_BYTES_MAX = 1 << 20  # so much is read and dropped until then, so that the client stops writing and reads


def _always(_peer: str) -> bool:
    return True


def _not_counted(_limit: str) -> None: ...


def _peer(transport: asyncio.BaseTransport) -> str:
    name = transport.get_extra_info("peername")
    return str(name[0]) if name else ""


class TimedRequests(asyncio.Protocol):
    """A mixin for an HTTP protocol class. `timed` sets `request_s_max`, `answer_s_max`, `may_open` and
    `note_refused`."""

    app: Callable[..., Any]
    request_s_max = 15.0
    answer_s_max = 60.0
    may_open = staticmethod(_always)
    note_refused = staticmethod(_not_counted)

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._timed_transport: Any = None
        self._heads = RequestHeads()
        self._head_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None  # while the client must read more
        self._answering = self._answered = 0  # requests
        self._is_served = False  # uvicorn's protocol knows of the connection
        self._refusal: bytes | None = None  # what the next data is answered with; empty once it is sent
        self._dropped_bytes = 0  # after the refusal
        inner = self.app

        async def answer(scope: Any, receive: Any, send: Any) -> Any:
            self._stop_head_timer()
            self._answering += 1
            try:
                return await inner(scope, receive, send)
            finally:
                self._answering -= 1
                self._answered += 1

        self.app = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._timed_transport = transport
        if not self._is_handed() and not self.may_open(_peer(transport)):
            self._refusal = RESPONSE  # only with the first data: an unread request would reset the connection
        self._start_timer()
        if self._refusal is None:
            self._is_served = True
            super().connection_made(transport)

    def _is_handed(self) -> bool:
        """Did the connection come from another process of this server, which has already counted it?"""
        arrival = getattr(self, "arrival", None)
        return arrival is not None and bool(arrival.is_handed)

    def data_received(self, data: bytes) -> None:
        if self._refusal is None:
            self._check(data)
        if self._refusal is not None:
            if self._refusal:
                self._timed_transport.write(self._refusal)
                self._timed_transport.close()
            self._refusal = b""
            self._drop(data)
            return
        if self._head_timer is None and not self._answering:
            self._start_timer()
        super().data_received(data)
        if self._timed_transport.get_protocol() is not self:  # a WebSocket now: a timer would keep this object alive
            self._stop_head_timer()
            self._stop_read_timer()

    def _check(self, data: bytes) -> None:
        """Decide whether this data may be parsed. If not, answer, and read nothing more. Also read no more of a body
        whose request was answered already. The connection is closed a moment later, because a client whose data is
        unread at that moment may never get the answer."""
        heads = self._heads
        try:
            if heads.body_left and self._answered >= heads.count:
                self._refusal = b""
            else:
                heads.check(data)
        except HeadRefused as why:
            self._refusal = b""
            self.note_refused(HEADS)
            self._timed_transport.write(_response(why.status, f"{why}\n".encode()))
        if self._refusal is not None:
            self._stop_head_timer()
            self._start_timer()

    def _drop(self, data: bytes) -> None:
        self._dropped_bytes += len(data)
        if self._dropped_bytes > REFUSED_BYTES_MAX and not self._timed_transport.is_closing():
            self._timed_transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._stop_read_timer()
        if self._is_served:
            super().connection_lost(exc)

    def eof_received(self) -> bool | None:
        return None if self._refusal is not None else super().eof_received()

    def pause_writing(self) -> None:
        loop = asyncio.get_running_loop()
        self._read_timer = self._read_timer or loop.call_later(self.answer_s_max, self._cut_off)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stop_read_timer()
        super().resume_writing()

    def _cut_off(self) -> None:
        self.note_refused(ANSWER_TIME)
        self._timed_transport.abort()

    def _start_timer(self) -> None:
        until_s = self.request_s_max if self._refusal is None else REFUSED_S_MAX
        self._head_timer = asyncio.get_running_loop().call_later(until_s, self._close_slow)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _close_slow(self) -> None:
        """Close the connection, because the head of a request didn't come in time. A connection that has become a
        WebSocket stays open, because it is no longer an HTTP connection."""
        self._head_timer = None
        transport = self._timed_transport
        if self._refusal is not None:
            transport.close()
        elif transport.get_protocol() is self and not self._answering:
            self.note_refused(REQUEST_TIME)
            transport.write(_response("408 Request Timeout", LATE))
            transport.close()


def _response(status: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def timed(
    protocol: type[Any],
    request_s_max: float,
    may_open: MayOpen = _always,
    answer_s_max: float = 60.0,
    note_refused: NoteRefused = _not_counted,
) -> type[Any]:
    """A subclass of this HTTP protocol class that limits how long the head of a request, and reading an answer, may
    take. When a connection is opened, `may_open` is called with the peer's address, and returns whether the connection
    is served. `note_refused` is called with the name of each limit that refuses something."""
    limits = {
        "request_s_max": request_s_max,
        "answer_s_max": answer_s_max,
        "may_open": staticmethod(may_open),
        "note_refused": staticmethod(note_refused),
    }
    return type("TimedHttp", (TimedRequests, protocol), limits)


class BodyTimeout:
    """An ASGI application that wraps another one. A request whose body doesn't arrive within `request_s_max` seconds is
    answered with status 408, and counted with `note_refused`."""

    def __init__(
        self, app: Callable[..., Awaitable[None]], request_s_max: float, note_refused: NoteRefused = _not_counted
    ) -> None:
        self._app = app
        self._request_s_max = request_s_max
        self._note_refused = note_refused

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
                self._note_refused(REQUEST_TIME)
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
