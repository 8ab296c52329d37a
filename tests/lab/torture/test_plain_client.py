"""The client of honest and hostile callers: it talks, counts what is refused, and notices that its socket is closed."""

from __future__ import annotations

import asyncio

import pytest

from duologue.lab.torture.plain_client import NoAnswer, PlainClient
from tests.server.running_server import running_server


def test_it_talks_from_its_own_address_and_counts_refusals() -> None:
    async def main() -> None:
        async with running_server() as made:
            client = await PlainClient.open(made.port, "127.0.1.9")
            await client.begin("alice")
            (served,) = made.conversations.served.values()
            assert served.address == "127.0.1.9"
            await client.send("type", text="hello")
            await client.until(lambda: client.finished == 1, "an answer")
            assert client.sounds == 1
            await client.until(lambda: client.answer == "You said hello.", "the words of the answer")
            (served,) = made.conversations.served.values()
            served.tell_unsaved()
            await client.until(lambda: client.warnings["unsaved"] == 1, "a warning")
            await client.send("type", text="x" * 5_000)
            await client.until(lambda: client.errors["refused"] == 1, "a refusal")
            await client.close()

    asyncio.run(main())


def test_a_refused_start_and_a_closed_socket_are_reported() -> None:
    async def main() -> None:
        async with running_server(unspoken_per_address_max=1) as made:
            first, second = [await PlainClient.open(made.port, "127.0.1.9") for _ in range(2)]
            await first.begin("alice")
            with pytest.raises(NoAnswer, match="refused: start_refused"):
                await second.begin("bob")
            assert await second.send("ping", t=1)
            await second.socket.close()
            assert not await second.send("ping", t=1), "a client that counts what it sends must notice that"
            with pytest.raises(NoAnswer, match="closed with 1000 before an answer"):
                await second.until(lambda: False, "an answer")
            await first.close()

    asyncio.run(main())
