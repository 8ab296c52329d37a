"""The process of the proxies: it passes data on, obeys commands, and ends."""

from __future__ import annotations

import asyncio

from duologue.lab.torture.proxies import ProxyProcess


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


def test_a_process_of_proxies_passes_data_on_obeys_and_ends() -> None:
    async def main() -> None:
        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"hello\n")
            await is_closed(reader)
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        proxies = ProxyProcess()
        try:
            behind = server.sockets[0].getsockname()[1]
            await proxies.start([behind, behind])
            (first, first_out), (second, second_out) = [
                await asyncio.open_connection("127.0.0.1", port) for port in proxies.ports
            ]
            assert await first.readline() == await second.readline() == b"hello\n"
            proxies.do(0, "cut")
            assert await is_closed(first)
            assert not second.at_eof()
        finally:
            await proxies.stop()
            server.close()
        assert await is_closed(second)
        for out in (first_out, second_out):
            out.close()

    asyncio.run(asyncio.wait_for(main(), 60))
