"""Connections that move from one process to another, here between two servers in one process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import uvicorn
import uvloop
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duologue.server.processes.connection import (
    READ_BYTES_MAX,
    Arrival,
    Connections,
    GiveableSocket,
    UnansweredConnection,
    frame_of,
    request_of,
)
from duologue.server.run import QuietServer
from duologue.server.siblings import SCOPE_KEY

LOOPS = pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
Run = Callable[[Any], None]


class Place:
    """A server that answers with its name. With `giving`, it gives every connection to another place."""

    def __init__(self, name: str, giving: Place | None = None, messages: tuple[str, ...] = ()) -> None:
        self.name = name
        self._giving = giving
        self._messages = messages
        self.connections: Connections | None = None
        self.newest: Any = None
        self.kept = 0  # that could not be given

    async def app(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        answer = self._answer if scope["type"] == "http" else self._talk
        await answer(scope, receive, send)

    async def _answer(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        read, is_more = b"", True
        while is_more:
            piece = await receive()
            read, is_more = read + piece["body"], piece["more_body"]
        if self._giving is not None:
            await self._give(scope[SCOPE_KEY].give_request(scope, read), False)
            return
        asked = f"{scope['method']} {scope['path']} {scope['query_string'].decode()}{read.decode()}"
        body = f"{self.name} {asked}\n".encode()
        length = str(len(body)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": body})

    async def _talk(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        await receive()
        if scope["path"] == "/refused":
            await send({"type": "websocket.close"})
            return
        await send({"type": "websocket.accept"})
        self.newest = scope[SCOPE_KEY]
        while (event := await receive())["type"] != "websocket.disconnect":
            if self._giving is not None:
                given = scope[SCOPE_KEY].give_socket(self._messages)
                if given is not None:
                    await self._give(given, True)
                    return
                self.kept += 1
            said = event.get("text") or f"{len(event['bytes'])} bytes"
            await send({"type": "websocket.send", "text": f"{self.name}: {said}"})

    async def _give(self, given: Any, is_websocket: bool) -> None:
        assert self._giving is not None
        assert self._giving.connections is not None
        arrival = Arrival(given.data, given.request_bytes)
        await self._giving.connections.take(socket.socket(fileno=given.descriptor), is_websocket, arrival)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        config = uvicorn.Config(
            self.app,
            log_level="warning",
            ws=GiveableSocket,
            interface="asgi3",
            lifespan="off",
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=1,
        )
        server = QuietServer(config)
        task = asyncio.create_task(server.serve([]))
        while not server.started:
            await asyncio.sleep(0.001)
        self.connections = Connections(server)
        yield
        server.should_exit = True
        await task


@asynccontextmanager
async def port_of(place: Place, *others: Place) -> AsyncIterator[int]:
    """The port at which a place, which knows others, takes connections."""

    async def accept() -> None:
        while True:
            client, _ = await asyncio.get_running_loop().sock_accept(listening)
            assert place.connections is not None
            await place.connections.take(client, True, Arrival())

    async with AsyncExitStack() as stack:
        for one in (place, *others):
            await stack.enter_async_context(one.serving())
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.setblocking(False)
            accepting = asyncio.create_task(accept())
            yield listening.getsockname()[1]
            accepting.cancel()


@LOOPS
def test_a_websocket_moves_with_all_that_was_sent_and_the_client_notices_nothing(run: Run) -> None:
    async def script() -> None:
        there = Place("there")
        here = Place("here", giving=there)
        async with port_of(here, there) as port, connect(f"ws://127.0.0.1:{port}/ws", compression=None) as client:
            await client.send("hello")
            await client.send("start")
            await client.send(bytes(1_024))
            assert [await client.recv() for _ in range(3)] == ["there: hello", "there: start", "there: 1024 bytes"]
            await client.send("more")
            assert await client.recv() == "there: more"
            await (await client.ping())
            assert here.connections is not None
            assert there.connections is not None
            assert (here.connections.open, there.connections.open) == (0, 1)
            assert (here.connections.received, there.connections.received) == (1, 1)

    run(script())


def test_a_websocket_moves_with_other_messages_instead() -> None:
    async def script() -> None:
        there = Place("there")
        here = Place("here", giving=there, messages=("one", "x" * 200, "y" * 70_000))
        async with port_of(here, there) as port, connect(f"ws://127.0.0.1:{port}/ws", compression=None) as client:
            await client.send("hello")
            heard = [await client.recv() for _ in range(3)]
            assert heard == ["there: one", "there: " + "x" * 200, "there: " + "y" * 70_000]

    asyncio.run(script())


def test_a_websocket_that_has_read_too_much_stays() -> None:
    async def script() -> None:
        there = Place("there")
        here = Place("here", giving=there)
        async with port_of(here, there) as port, connect(f"ws://127.0.0.1:{port}/ws", compression=None) as client:
            await client.send("z" * (READ_BYTES_MAX + 1))
            assert await client.recv() == "here: " + "z" * (READ_BYTES_MAX + 1)
            assert here.kept == 1

    asyncio.run(script())


def test_a_refused_handshake_is_refused_without_a_move() -> None:
    async def script() -> None:
        async with port_of(Place("here")) as port:
            with pytest.raises(InvalidStatus):
                await connect(f"ws://127.0.0.1:{port}/refused", compression=None)

    asyncio.run(script())


@LOOPS
def test_a_request_moves_with_its_connection(run: Run) -> None:
    async def script() -> None:
        there = Place("there")
        async with port_of(Place("here", giving=there), there) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for path in (b"/a%20b?c=d", b"/again"):
                writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
                answer = await reader.readuntil(b"\r\n\r\n") + await reader.readline()
                assert answer.startswith(b"HTTP/1.1 200 OK")
                assert answer.endswith((b"there GET /a b c=d\n", b"there GET /again \n"))
            writer.close()

    run(script())


@LOOPS
def test_a_request_moves_with_its_body(run: Run) -> None:
    async def script() -> None:
        there = Place("there")
        async with port_of(Place("here", giving=there), there) as port:
            for head, body in (
                (b"Content-Length: 5", b"12345"),
                (b"Transfer-Encoding: chunked", b"2\r\n12\r\n3\r\n345\r\n0\r\n\r\n"),
            ):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"POST /a HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n" + body)
                answer = await reader.readuntil(b"\r\n\r\n") + await reader.readline()
                assert answer.endswith(b"there POST /a 12345\n")
                writer.close()

    run(script())


def test_a_client_that_has_disconnected_is_not_given_away() -> None:
    async def script() -> None:
        here = Place("here")
        async with port_of(here) as port:
            near = await connect(f"ws://127.0.0.1:{port}/ws", compression=None)
            await near.send("hello")
            await near.recv()
            await near.close()
            assert here.connections is not None
            async with asyncio.timeout(10):
                while here.connections.open:
                    await asyncio.sleep(0.001)
            assert here.newest.give_socket() is None

    asyncio.run(script())


def test_only_the_answer_to_a_handshake_is_dropped() -> None:
    class Wire:
        def __init__(self) -> None:
            self.written: list[bytes] = []

        def write(self, data: bytes) -> None:
            self.written.append(data)

        def is_closing(self) -> bool:
            return False

    for first, is_dropped in ((b"HTTP/1.1 101 Switching Protocols\r\n", True), (b"HTTP/1.1 403 Forbidden\r\n", False)):
        wire, calls = Wire(), []
        muted = UnansweredConnection(wire, lambda calls=calls: calls.append(1))  # type: ignore[misc]
        for data in (first, b"HTTP/1.1 101", b"more"):
            muted.write(data)
        assert wire.written == [b"HTTP/1.1 101", b"more"] if is_dropped else [first, b"HTTP/1.1 101", b"more"]
        assert bool(calls) == is_dropped
        assert not muted.is_closing()


def test_a_request_is_written_as_it_came() -> None:
    scope = {"method": "GET", "raw_path": b"/a%20b", "query_string": b"c=d", "headers": [(b"host", b"x"), (b"a", b"1")]}
    assert request_of(scope) == b"GET /a%20b?c=d HTTP/1.1\r\nhost: x\r\na: 1\r\n\r\n"
    assert request_of({**scope, "query_string": b""}).startswith(b"GET /a%20b HTTP/1.1\r\n")


@pytest.mark.parametrize("size", [0, 125, 126, 65_535, 65_536])
def test_a_frame_has_the_length_of_its_text(size: int) -> None:
    frame = frame_of("x" * size)
    assert frame.endswith(bytes(4) + b"x" * size)
    assert frame[0] == 0x81
    assert frame[1] & 0x80, "clients mask their frames"
