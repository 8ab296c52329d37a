"""An address that opens connections too often is refused before anything is read. Other addresses are served."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duologue.fairness.bucket import Rate
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.connection_limit import REFUSAL, ConnectionLimit
from duologue.server.settings import Limits
from duologue.server.shared_limits import SharedLimits
from tests.limits import WAIT_S

from .running_server import RunningServer, serve

THREE = Rate(1, 600_000, 3)
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
OTHER_ADDRESS = ("127.0.0.9", 0)


async def answer_to(made: RunningServer, data: bytes = REQUEST, **how: Any) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", made.port, **how)
    writer.write(data)
    answer = await asyncio.wait_for(reader.read(), WAIT_S)
    writer.close()
    return answer


def test_the_fourth_connection_of_three_is_refused_in_words_and_another_address_is_served() -> None:
    async def script(made: RunningServer) -> None:
        for _ in range(3):
            assert (await answer_to(made)).startswith(b"HTTP/1.1 200 ")
        refused = await answer_to(made)
        assert refused.startswith(b"HTTP/1.1 429 ")
        assert refused.endswith(REFUSAL)
        assert (await answer_to(made, local_addr=OTHER_ADDRESS)).startswith(b"HTTP/1.1 200 ")
        assert 'duologue_refused_total{limit="connections"} 1\n' in made.server.own_metrics()

    serve(script, connections=THREE)


def test_a_websocket_that_comes_too_often_is_refused_before_the_handshake() -> None:
    async def script(made: RunningServer) -> None:
        for _ in range(3):
            await answer_to(made)
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{made.port}/ws", proxy=None)
        assert refused.value.response.status_code == 429
        assert not made.server.conversations.clients

    serve(script, connections=THREE)


def test_a_refused_connection_that_sends_nothing_is_closed() -> None:
    async def script(made: RunningServer) -> None:
        for _ in range(3):
            await answer_to(made)
        assert await answer_to(made, b"") == b""

    serve(script, connections=THREE)


def limit(*trusted: str) -> tuple[ConnectionLimit, list[str]]:
    refused: list[str] = []
    return ConnectionLimit(SharedLimits(Limits(connections=THREE)), trusted, refused.append), refused


def test_addresses_of_one_ipv6_network_are_counted_together() -> None:
    async def scene() -> None:
        made, refused = limit()
        assert [made.may_open(f"2001:db8::{number}") for number in range(4)] == [True, True, True, False]
        assert made.may_open("2001:db8:0:1::1")
        assert refused == ["connections"]

    run_simulated(scene())


def test_a_trusted_proxy_may_open_as_many_as_it_likes_and_its_callers_may_not() -> None:
    async def scene() -> None:
        made, refused = limit("10.0.0.0/8")
        assert all(made.may_open("10.0.0.1") for _ in range(100))
        assert [made.may_enter("192.0.2.1") for _ in range(4)] == [True, True, True, False]
        assert made.may_enter("192.0.2.2")
        assert refused == ["connections"]
        await asyncio.sleep(600.0)
        assert made.may_enter("192.0.2.1")

    run_simulated(scene())


def test_a_caller_behind_a_trusted_proxy_is_refused_at_the_handshake() -> None:
    async def script(made: RunningServer) -> None:
        def opening(caller: str) -> Any:
            named = {"X-Forwarded-For": caller}
            return connect(f"ws://127.0.0.1:{made.port}/ws", proxy=None, additional_headers=named)

        for _ in range(3):
            async with opening("192.0.2.1"):
                pass
        with pytest.raises(InvalidStatus) as refused:
            await opening("192.0.2.1")
        assert refused.value.response.status_code == 403
        async with opening("192.0.2.2"):
            pass

    serve(script, secrets={"trusted_proxies": ("127.0.0.1",)}, connections=THREE)
