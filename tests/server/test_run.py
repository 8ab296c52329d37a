"""Running a server: what it serves while it runs."""

from __future__ import annotations

import asyncio
import urllib.request

import pytest

from duologue.server.app import Server
from duologue.server.listening import bind_socket, server_url
from duologue.server.run import serving
from tests.limits import WAIT_S
from tests.server.running_server import agent_that_says


def test_a_server_answers_while_it_is_serving_and_not_after() -> None:
    listening = bind_socket("127.0.0.1", 0)
    url = f"{server_url(listening)}healthz"

    def get() -> bytes:
        with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
            body: bytes = answer.read()
            return body

    async def run() -> None:
        async with serving(Server(agent_that_says()), listening):
            assert await asyncio.to_thread(get) == b"ok\n"
        with pytest.raises(OSError, match="refused"):
            await asyncio.to_thread(get)

    asyncio.run(run())
