"""Connections that open a request and don't finish it are closed. Others stay."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.slow_requests import REFUSED_BYTES_MAX, timed
from tests.limits import TEST_S, WAIT_S

from .running_server import RunningServer, serve

SOON_S = 0.2


async def answer_to(made: RunningServer, *pieces: bytes) -> bytes:
    """What the server sends before it closes a connection on which these pieces come."""
    reader, writer = await asyncio.open_connection("127.0.0.1", made.port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
    answer = await asyncio.wait_for(reader.read(), WAIT_S)
    writer.close()
    return answer


@pytest.mark.parametrize("head", [b"", b"GET / HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_request_whose_head_doesnt_come_is_closed(head: bytes) -> None:
    async def script(made: RunningServer) -> None:
        answer = await answer_to(made, head)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert answer.endswith(b"The request took too long to arrive.\n")
        assert made.conversations.refused == {"request_time": 1}

    serve(script, request_s_max=SOON_S)


def test_a_request_whose_body_doesnt_come_is_closed() -> None:
    async def script(made: RunningServer) -> None:
        head = f"POST /debug/replay HTTP/1.1\r\nHost: 127.0.0.1:{made.port}\r\nContent-Length: 100\r\n\r\n".encode()
        assert (await answer_to(made, head, b"{")).startswith(b"HTTP/1.1 408 ")
        assert made.conversations.refused == {"request_time": 1}

    serve(script, request_s_max=SOON_S)


def test_the_second_request_of_a_connection_has_its_own_time() -> None:
    async def script(made: RunningServer) -> None:
        whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", made.port)
        writer.write(whole)
        assert b"200 OK" in await asyncio.wait_for(reader.readuntil(b"ok\n"), WAIT_S)
        writer.write(whole[:10])
        assert (await asyncio.wait_for(reader.read(), WAIT_S)).startswith(b"HTTP/1.1 408 ")
        writer.close()

    serve(script, request_s_max=SOON_S)


def test_a_websocket_isnt_a_slow_request() -> None:
    async def script(made: RunningServer) -> None:
        client = await made.connect()
        await client.begin("alice")
        assert (await answer_to(made, b"GET ")).startswith(b"HTTP/1.1 408 ")  # opened later, closed already
        await client.send("ping", t=1)
        await client.expect("pong")

    serve(script, request_s_max=SOON_S)


def test_a_socket_that_says_nothing_is_closed_unless_it_has_a_conversation() -> None:
    async def script(made: RunningServer) -> None:
        talking, silent, watching = [await made.connect() for _ in range(3)]
        await talking.begin("alice")
        await watching.hello("carol")
        await watching.send("calls", on=True)
        await watching.expect("calls")
        await silent.hello("bob")
        assert await silent.gone() == (4408, "The client sent nothing for a long time: connect again.")
        assert made.conversations.refused == {"silence": 1}
        for client in (talking, watching):
            await client.send("ping", t=1)
            await client.expect("pong")

    serve(script, silent_s_max=SOON_S)


def test_what_comes_of_a_body_after_the_answer_isnt_read_any_more() -> None:
    async def script(made: RunningServer) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", made.port)
        writer.write(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 999999999999\r\n\r\n" % made.port)
        assert (await asyncio.wait_for(reader.readline(), WAIT_S)).startswith(b"HTTP/1.1 405 ")
        writer.write(b"x" * 1_000)
        await asyncio.wait_for(reader.read(), WAIT_S)
        writer.close()

    serve(script, request_s_max=TEST_S)


class Below(asyncio.Protocol):
    """Stands for uvicorn's protocol."""

    def __init__(self) -> None:
        self.app = lambda *given: None


class Wire(asyncio.Transport):
    """A transport whose client is cut off at `cut_s`."""

    cut_s: float | None = None
    is_paused = False
    written = b""

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...

    def pause_reading(self) -> None:
        self.is_paused = True

    def abort(self) -> None:
        self.cut_s = asyncio.get_running_loop().time()


def test_only_so_much_is_read_after_a_refusal() -> None:
    async def scene() -> None:
        wire, refused = Wire(), list[str]()
        connection = timed(Below, request_s_max=500.0, note_refused=refused.append)()
        connection.connection_made(wire)
        connection.data_received(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert wire.written.startswith(b"HTTP/1.1 411 ")
        connection.data_received(bytes(REFUSED_BYTES_MAX - 100))
        assert not wire.is_paused
        connection.data_received(bytes(100))
        assert wire.is_paused
        assert refused == ["heads"]
        connection.connection_lost(None)

    run_simulated(scene())


@pytest.mark.parametrize(("reads_after_s", "cut_after_s"), [(None, 30.0), (29.0, None), (31.0, 30.0)])
def test_a_client_that_doesnt_read_its_answer_is_cut_off(
    reads_after_s: float | None, cut_after_s: float | None
) -> None:
    async def scene() -> None:
        began_s, wire, refused = asyncio.get_running_loop().time(), Wire(), list[str]()
        connection = timed(Below, request_s_max=500.0, answer_s_max=30.0, note_refused=refused.append)()
        connection.connection_made(wire)
        connection.pause_writing()
        connection.pause_writing()
        if reads_after_s is not None:
            await asyncio.sleep(reads_after_s)
            connection.resume_writing()
        await asyncio.sleep(100)
        assert wire.cut_s == (None if cut_after_s is None else began_s + cut_after_s)
        assert refused == ([] if cut_after_s is None else ["answer_time"])
        connection.connection_lost(None)

    run_simulated(scene())
