"""Connections that open a request and don't finish it are closed. Others stay."""

from __future__ import annotations

import asyncio

import pytest

from tests.limits import WAIT_S

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

    serve(script, request_s_max=SOON_S)


def test_a_request_whose_body_doesnt_come_is_closed() -> None:
    async def script(made: RunningServer) -> None:
        head = f"POST /debug/replay HTTP/1.1\r\nHost: 127.0.0.1:{made.port}\r\nContent-Length: 100\r\n\r\n".encode()
        assert (await answer_to(made, head, b"{")).startswith(b"HTTP/1.1 408 ")

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
        for client in (talking, watching):
            await client.send("ping", t=1)
            await client.expect("pong")

    serve(script, silent_s_max=SOON_S)
