"""A proxy passes data on unchanged, and inflicts the faults that it is commanded to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from duologue.lab.torture.proxy import Proxy
from tests.limits import WAIT_S

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
QUIET_S = 0.05  # long enough for a byte that isn't held back


@asynccontextmanager
async def echoing() -> AsyncIterator[Proxy]:
    """A proxy in front of a server that sends back what it gets."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1_000):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    proxy = Proxy(server.sockets[0].getsockname()[1])
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
        server.close()


def play(scene: Callable[[Proxy], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(WAIT_S), echoing() as proxy:
            await scene(proxy)

    asyncio.run(main())


async def dial(proxy: Proxy) -> Streams:
    return await asyncio.open_connection("127.0.0.1", proxy.port)


async def echo_of(streams: Streams, data: bytes) -> bytes:
    streams[1].write(data)
    return await streams[0].readexactly(len(data))


async def is_closed(streams: Streams) -> bool:
    try:
        return await streams[0].read(1) == b""
    except ConnectionError:
        return True


def test_data_passes_unchanged_in_both_directions() -> None:
    async def scene(proxy: Proxy) -> None:
        data = bytes(range(256)) * 1_000
        assert await echo_of(await dial(proxy), data) == data

    play(scene)


def test_a_cut_closes_every_connection_and_new_ones_work() -> None:
    async def scene(proxy: Proxy) -> None:
        first, second = await dial(proxy), await dial(proxy)
        for streams in (first, second):
            await echo_of(streams, b"a")
        proxy.cut()
        assert await is_closed(first)
        assert await is_closed(second)
        assert await echo_of(await dial(proxy), b"b") == b"b"

    play(scene)


def test_a_shut_proxy_lets_no_connection_in_until_it_is_healed() -> None:
    async def scene(proxy: Proxy) -> None:
        proxy.is_shut = True
        assert await is_closed(await dial(proxy))
        proxy.heal()
        assert await echo_of(await dial(proxy), b"a") == b"a"

    play(scene)


def test_a_stall_holds_data_back_until_it_is_healed() -> None:
    async def scene(proxy: Proxy) -> None:
        streams = await dial(proxy)
        await echo_of(streams, b"a")
        proxy.stall()
        streams[1].write(b"held")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(reading := asyncio.ensure_future(streams[0].readexactly(4))), QUIET_S)
        proxy.heal()
        assert await reading == b"held"

    play(scene)


def test_a_connection_whose_data_was_swallowed_never_works_again() -> None:
    async def scene(proxy: Proxy) -> None:
        broken = await dial(proxy)
        await echo_of(broken, b"a")
        proxy.swallow()
        broken[1].write(b"gone")
        proxy.heal()
        broken[1].write(b"gone, too")
        assert await echo_of(await dial(proxy), b"b") == b"b"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(broken[0].read(1), QUIET_S)

    play(scene)


def test_a_delay_is_added_to_everything() -> None:
    async def scene(proxy: Proxy) -> None:
        streams = await dial(proxy)
        await echo_of(streams, b"a")
        proxy.delay_s = 0.05
        began_s = asyncio.get_running_loop().time()
        assert await echo_of(streams, b"late") == b"late"
        assert asyncio.get_running_loop().time() - began_s >= 0.1  # there and back

    play(scene)
