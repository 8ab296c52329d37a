"""The tasks of a socket: order, pings, and a loss that is reported once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

from duologue.brains.model_wire import BACKLOG_MAX, WireTasks
from duologue.runtime.simulated_clock import run_simulated


class FakeWire:
    """A socket whose other side is the test."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.incoming: asyncio.Queue[str | Exception] = asyncio.Queue()
        self.open = asyncio.Event()
        self.open.set()
        self.pongs = asyncio.Event()
        self.pongs.set()
        self.is_closed = False

    async def send(self, text: str) -> None:
        await self.open.wait()
        self.sent.append(text)

    async def recv(self) -> str | bytes:
        found = await self.incoming.get()
        if isinstance(found, Exception):
            raise found
        return found

    async def ping(self) -> None:
        await self.pongs.wait()

    async def close(self) -> None:
        self.is_closed = True


class Told:
    def __init__(self) -> None:
        self.taken: list[str | bytes] = []
        self.lost: list[BaseException] = []
        self.health: list[bool] = []
        self.counts: Counter[str] = Counter()


def hold(act: Callable[[FakeWire, WireTasks], Awaitable[None]]) -> tuple[FakeWire, Told]:
    """Run this in simulated time."""

    async def run() -> tuple[FakeWire, Told]:
        wire, told = FakeWire(), Told()
        tasks = WireTasks(
            wire,
            told.counts,
            told.taken.append,
            told.lost.append,
            told.health.append,
            name="test",
            ping_ms=1_000,
            pong_ms_max=500,
        )
        await act(wire, tasks)
        await tasks.close()
        return wire, told

    return run_simulated(run())


def test_messages_go_out_and_come_in_in_order() -> None:
    async def act(wire: FakeWire, tasks: WireTasks) -> None:
        for text in ("a", "b", "c"):
            tasks.send(text)
            wire.incoming.put_nowait(text.upper())
        await asyncio.sleep(0.1)
        assert tasks.received == 3

    wire, told = hold(act)
    assert (wire.sent, told.taken, told.lost) == (["a", "b", "c"], ["A", "B", "C"], [])
    assert wire.is_closed


def test_only_audio_is_dropped_when_too_much_waits() -> None:
    async def act(wire: FakeWire, tasks: WireTasks) -> None:
        wire.open.clear()
        for _ in range(BACKLOG_MAX + 2):
            tasks.send("audio", is_audio=True)
        tasks.send("important")
        wire.open.set()
        await asyncio.sleep(0.1)

    wire, told = hold(act)
    assert wire.sent[-1] == "important"
    assert told.counts == {"audio_dropped": 2}


def test_a_late_pong_is_reported_and_so_is_its_arrival() -> None:
    async def act(wire: FakeWire, tasks: WireTasks) -> None:
        wire.pongs.clear()
        await asyncio.sleep(1.6)
        wire.pongs.set()
        await asyncio.sleep(0.1)

    _, told = hold(act)
    assert told.health == [False, True]
    assert told.counts == {"wobbles": 1}


def test_a_loss_is_reported_once_and_nothing_is_sent_after_it() -> None:
    async def act(wire: FakeWire, tasks: WireTasks) -> None:
        wire.incoming.put_nowait(ConnectionError("gone"))
        await asyncio.sleep(0.1)
        tasks.lose(TimeoutError())
        tasks.send("too late")
        assert tasks.is_over

    wire, told = hold(act)
    assert [type(one) for one in told.lost] == [ConnectionError]
    assert wire.sent == []


def test_closing_reports_no_loss() -> None:
    async def act(wire: FakeWire, tasks: WireTasks) -> None:
        tasks.send("last words")

    wire, told = hold(act)
    assert (wire.sent, told.lost) == (["last words"], [])
