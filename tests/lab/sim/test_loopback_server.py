"""A server on this machine for as long as a block runs."""

from __future__ import annotations

import asyncio
import socket
import urllib.request

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.loopback_server import open_socket, serving, url_of
from tests.limits import WAIT_S


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
        return str(answer.read().decode())


def test_a_server_answers_during_the_block_and_is_gone_after_it() -> None:
    async def call() -> tuple[str, str]:
        async with serving(lambda url: [Route("/", lambda request: PlainTextResponse(url))]) as url:
            return url, await asyncio.to_thread(fetch, url)

    url, answer = run_jumping(call())
    assert answer == url
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=1)


def test_two_servers_have_different_ports() -> None:
    async def call() -> tuple[str, str]:
        async with serving(lambda url: []) as first, serving(lambda url: []) as second:
            return first, second

    first, second = run_jumping(call())
    assert first != second


def test_the_address_of_a_socket_is_on_this_machine() -> None:
    with open_socket() as listening:
        assert url_of(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}"
