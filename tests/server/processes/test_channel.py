"""Packets and sockets between two processes. Both ends are in this one."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from duologue.server.processes import process_messages as pm
from duologue.server.processes.channel import (
    PACKET_BYTES_MAX,
    VARIABLE,
    Channel,
    TooLarge,
    channel_pair,
    is_one_of_several,
)


class End:
    """One end, and what came."""

    def __init__(self, end: socket.socket) -> None:
        self.got: list[tuple[Any, socket.socket | None]] = []
        self.is_closed = False
        self.channel = Channel(end, lambda message, client: self.got.append((message, client)), self._close)
        self.channel.open()

    def _close(self) -> None:
        self.is_closed = True

    async def until(self, count: int) -> None:
        async with asyncio.timeout(15):
            while len(self.got) < count:
                await asyncio.sleep(0.001)

    async def until_closed(self) -> None:
        async with asyncio.timeout(15):
            while not self.is_closed:
                await asyncio.sleep(0.001)


def both() -> tuple[End, End]:
    ours, theirs = channel_pair()
    return End(ours), End(theirs)


def test_messages_arrive_in_order_in_both_directions() -> None:
    async def run() -> None:
        one, other = both()
        for number in range(100):
            one.channel.send(pm.ClientFound(number, 0))
        other.channel.send(pm.SeatLeft("alice"))
        await other.until(100)
        await one.until(1)
        assert [message.question for message, _ in other.got] == list(range(100))
        assert one.got == [(pm.SeatLeft("alice"), None)]
        one.channel.close()
        await other.until_closed()

    asyncio.run(run())


def test_a_socket_is_passed_on_and_closed_where_it_came_from() -> None:
    async def run() -> None:
        one, other = both()
        near, far = socket.socketpair()
        one.channel.send(pm.ConnectionPassed(True), far.detach())
        await other.until(1)
        message, client = other.got[0]
        assert message == pm.ConnectionPassed(True)
        assert client is not None
        with near:
            with client:
                near.send(b"hello")
                assert client.recv(10) == b"hello"
            assert near.recv(1) == b"", "nothing else has it open"
        one.channel.close()
        other.channel.close()

    asyncio.run(run())


def test_what_the_other_side_does_not_read_waits_and_nothing_is_lost() -> None:
    async def run() -> None:
        ours, theirs = channel_pair()
        one = End(ours)
        big = pm.OwnMetrics(bytes(50_000))
        for _ in range(40):  # more than the kernel keeps
            one.channel.send(big)
        one.channel.send(pm.Leaving())
        other = End(theirs)
        await other.until(41)
        assert [message for message, _ in other.got] == [*[big] * 40, pm.Leaving()]
        one.channel.close()
        other.channel.close()

    asyncio.run(run())


def test_a_message_that_is_too_large_is_refused_and_its_socket_closed() -> None:
    async def run() -> None:
        one, other = both()
        near, far = socket.socketpair()
        with pytest.raises(TooLarge):
            one.channel.send(pm.HandOn(0, True, bytes(PACKET_BYTES_MAX)), far.detach())
        with near:
            assert near.recv(1) == b""
        one.channel.send(pm.OwnMetrics(bytes(PACKET_BYTES_MAX - 100)))
        await other.until(1)
        one.channel.close()
        other.channel.close()

    asyncio.run(run())


def test_after_the_other_side_has_gone_nothing_is_sent_and_sockets_are_closed() -> None:
    async def run() -> None:
        ours, theirs = channel_pair()
        one = End(ours)
        big, (near, far) = pm.OwnMetrics(bytes(100_000)), socket.socketpair()
        for _ in range(10):
            one.channel.send(big)
        one.channel.send(pm.ConnectionPassed(True), far.detach())  # waits behind the others
        theirs.close()
        await one.until_closed()
        one.channel.send(pm.StopServing())
        with near:
            assert near.recv(1) == b""
        one.channel.close()

    asyncio.run(run())


def test_a_process_knows_by_its_environment_that_it_is_one_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert not is_one_of_several()
    monkeypatch.setenv(VARIABLE, "5")
    assert is_one_of_several()
