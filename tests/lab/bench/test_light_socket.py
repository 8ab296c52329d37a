"""The WebSocket client of the benchmarks, against a real server."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.server import ServerConnection, serve

from duologue.core.errors import DuologueError
from duologue.lab.bench.light_socket import LightSocket
from tests.limits import WAIT_S

SIZES = (1, 125, 126, 1_000, 65_535)


class Collecting(LightSocket):
    def __init__(self) -> None:
        super().__init__()
        self.came: asyncio.Queue[bytes] = asyncio.Queue()
        self.is_gone = asyncio.Event()

    def take(self, content: bytes) -> None:
        self.came.put_nowait(content)

    def take_sound(self, content: bytes) -> None:
        self.came.put_nowait(content[::-1])

    def note_lost(self) -> None:
        self.is_gone.set()


async def _echo(socket: ServerConnection) -> None:
    pong = await socket.ping()
    await asyncio.wait_for(pong, WAIT_S)
    async for text in socket:
        await socket.send(text)
        await socket.send(text * 2)


def test_frames_of_all_sizes_come_back_and_pings_are_answered() -> None:
    async def whole() -> None:
        async with serve(_echo, "127.0.0.1", 0, compression=None) as server:
            client = Collecting()
            await client.open(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "/")
            for size in SIZES:
                client.send("x" * size)
                came = [await asyncio.wait_for(client.came.get(), WAIT_S) for _ in range(2)]
                assert [len(one) for one in came] == [size, 2 * size]
            client.close()
            await asyncio.wait_for(client.is_gone.wait(), WAIT_S)
            assert not client.is_lost, "it was closed by this side"

    asyncio.run(whole())


def test_sound_and_the_reason_of_a_close_are_received() -> None:
    async def closing(socket: ServerConnection) -> None:
        await socket.send(await socket.recv())
        await socket.close(4_001, "enough")

    async def whole() -> None:
        async with serve(closing, "127.0.0.1", 0, compression=None) as server:
            client = Collecting()
            await client.open(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "/")
            client.send_sound(b"\x01\x02\x03")
            assert await asyncio.wait_for(client.came.get(), WAIT_S) == b"\x03\x02\x01"
            await asyncio.wait_for(client.is_gone.wait(), WAIT_S)
            assert client.close_reason == "4001 enough"
            assert client.is_lost

    asyncio.run(whole())


def test_a_server_that_refuses_the_socket_is_an_error() -> None:
    async def whole() -> None:
        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        async with server:
            with pytest.raises(DuologueError, match="before its WebSocket was open"):
                await Collecting().open(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "/")

    asyncio.run(whole())
