"""How a simulated carrier and a server reach each other: over sockets, or within one event loop.

Within one event loop there is no network, so even calls that use the carrier's API can run in simulated time. In both
cases, the same requests, webhooks and streams go through the same routes. Rule: a request arrives exactly as it was
sent.
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from starlette.types import Message

from duologue.lines.phone.carriers import Carrier

from .dial import streaming
from .offline_call import WIRE_MS, Pipe
from .scripted_carrier import ScriptedCarrier

POST_S_MAX = 10.0
END_S_MAX = 10.0
Application: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]  # of ASGI


class CarrierWires(Protocol):
    """How the carrier reaches the server."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        """Send a webhook. Returns the status and the text of the response."""
        ...

    def stream(
        self, address: str, parameters: Mapping[str, str], carrier: Carrier, **options: Any
    ) -> AbstractAsyncContextManager[ScriptedCarrier]:
        """Open the stream of a call at this address. `options` are passed on to ScriptedCarrier."""
        ...


class SocketWires:
    """Reaches the server over sockets."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        request = urllib.request.Request(url, body, dict(headers), method="POST")
        return await asyncio.to_thread(_fetch, request)

    def stream(
        self, address: str, parameters: Mapping[str, str], carrier: Carrier, **options: Any
    ) -> AbstractAsyncContextManager[ScriptedCarrier]:
        return streaming(address, parameters, carrier, **options)


def _fetch(request: urllib.request.Request) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(request, timeout=POST_S_MAX) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read().decode()


class LoopWires:
    """Reaches a server in the same event loop. `server` is the ASGI application that is called."""

    def __init__(self, server: Application) -> None:
        self._server = server

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        exchange = _Exchange(body)
        await self._server(_http_scope("POST", url, headers), exchange.receive, exchange.send)
        return exchange.answer

    @asynccontextmanager
    async def stream(
        self, address: str, parameters: Mapping[str, str], carrier: Carrier, **options: Any
    ) -> AsyncIterator[ScriptedCarrier]:
        arrived: asyncio.Queue[Message] = asyncio.Queue()
        arrived.put_nowait({"type": "websocket.connect"})
        to_server = Pipe(lambda text: arrived.put_nowait({"type": "websocket.receive", "text": text}), WIRE_MS)
        scripted = ScriptedCarrier(to_server.send, carrier, parameters, **options)
        to_carrier = Pipe(scripted.receive, WIRE_MS)

        async def send(message: Message) -> None:
            if message["type"] == "websocket.send":
                to_carrier.send(message["text"])
            elif message["type"] == "websocket.close":
                asyncio.get_running_loop().call_later(WIRE_MS / 1000, scripted.end)

        serving = asyncio.ensure_future(self._server(_socket_scope(address), arrived.get, send))
        scripted.connect()
        try:
            yield scripted
            await asyncio.sleep(2 * WIRE_MS / 1000)  # the last message, the stop, must still arrive
        finally:
            scripted.end()
            arrived.put_nowait({"type": "websocket.disconnect", "code": 1000})
            await asyncio.wait((serving,), timeout=END_S_MAX)
            serving.cancel()


def request_within(api: Application) -> Callable[[str, str, Mapping[str, str], bytes], tuple[int, str]]:
    """Make a function that sends a request to this application and returns the status and the text of the response. The
    carriers' libraries need such a function, because they are synchronous. The application must answer without waiting
    for anything."""

    def send(method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        exchange = _Exchange(body)
        running = api(_http_scope(method, url, headers), exchange.receive, exchange.send)
        try:
            running.send(None)  # type: ignore[attr-defined] # a coroutine
        except StopIteration:
            return exchange.answer
        raise RuntimeError("the simulated API must answer without waiting")

    return send


class _Exchange:
    """One request and its response."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._status = 0
        self._answer = b""

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        else:
            self._answer += message.get("body", b"")

    @property
    def answer(self) -> tuple[int, str]:
        return self._status, self._answer.decode()


def _http_scope(method: str, url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    given = {"host": urlsplit(url).netloc, **{name.lower(): value for name, value in headers.items()}}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]
    return {"type": "http", "http_version": "1.1", "method": method.upper(), "headers": pairs, **_place(url)}


def _socket_scope(address: str) -> dict[str, Any]:
    return {"type": "websocket", "headers": [], "subprotocols": [], **_place(address)}


def _place(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    return {
        "asgi": {"version": "3.0"},
        "scheme": parts.scheme,
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": (parts.hostname, parts.port),
    }
