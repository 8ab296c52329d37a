"""The queue of what is sent to one client, and how a socket ends."""

from __future__ import annotations

import asyncio
from typing import Any

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.protocols.closes import OVER
from duologue.server.protocols.socket_outbox import CLOSE_S_MAX, SocketOutbox


async def for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def test_text_and_bytes_are_sent_in_order_and_dropped_sound_isnt() -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def whole() -> None:
        outbox = SocketOutbox(send, 1_000)
        for data, voice in (("a", 0), (b"b", 1), (b"c", 2)):
            outbox.add(data, voice)
        outbox.drop(1)
        outbox.disconnect(OVER)
        outbox.add("too late")
        await outbox.write_while(for_ever())

    run_simulated(whole())
    assert [one.get("text") or one.get("bytes") for one in sent] == ["a", b"c", None]
    assert (sent[-1]["type"], sent[-1]["code"]) == ("websocket.close", 1000)


def test_a_client_that_never_reads_delays_the_close_only_so_long() -> None:
    async def send(message: dict[str, Any]) -> None:
        await for_ever()

    async def whole() -> float:
        outbox = SocketOutbox(send, 1_000)
        outbox.add("a")
        outbox.disconnect(OVER)
        await outbox.write_while(_at_once())
        return asyncio.get_running_loop().time()

    assert run_simulated(whole()) == CLOSE_S_MAX


async def _at_once() -> None:
    pass


def test_what_reads_may_fail_and_the_socket_ends() -> None:
    async def broken() -> None:
        raise ValueError

    async def whole() -> None:
        await SocketOutbox(_nowhere, 1_000).write_while(broken())

    run_simulated(whole())


async def _nowhere(message: dict[str, Any]) -> None:
    pass
