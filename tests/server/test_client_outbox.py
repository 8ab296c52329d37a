"""One socket's queue: what is urgent overtakes sound, what is dropped never leaves, and nobody waits for a client."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable
from typing import Any

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_outbox import ClientOutbox
from duologue.server.close_codes import SLOW_READER, STOPPING
from duologue.server.server_messages import message


class Wire:
    """A socket that takes what it is sent while it is open to it."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.closed: tuple[int, str] | None = None
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.failure: Exception | None = None

    async def send(self, event: dict[str, Any]) -> None:
        await self.is_open.wait()
        if self.failure is not None:
            raise self.failure
        if event["type"] == "websocket.close":
            self.closed = (event["code"], event["reason"])
        elif "bytes" in event:
            self.sent.append(struct.unpack("<BBHII", event["bytes"][:12])[3:])
        else:
            told = json.loads(event["text"])
            payload = told["payload"]
            self.sent.append(payload.get("action") or payload.get("n") or payload.get("code") or payload)


def with_outbox(
    script: Callable[[ClientOutbox, Wire, list[str]], Awaitable[None]], unread_bytes_max: int = 100_000
) -> tuple[Wire, list[str]]:
    async def whole() -> tuple[Wire, list[str]]:
        wire, gone = Wire(), list[str]()
        outbox = ClientOutbox(wire.send, unread_bytes_max, lambda: gone.append("gone"))
        writing = asyncio.ensure_future(outbox.write())
        await script(outbox, wire, gone)
        outbox.close()
        await asyncio.wait_for(writing, 5)
        return wire, gone

    return run_simulated(whole())


async def flush() -> None:
    await asyncio.sleep(1)


def sounds(outbox: ClientOutbox, voice: int, first: int, count: int) -> None:
    for chunk in range(first, first + count):
        outbox.send_sound(voice, chunk, bytes(100))


def test_everything_leaves_in_its_order() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        outbox.send_message(message("x", n=1))
        sounds(outbox, 1, 1, 2)
        outbox.send_message(message("x", n=2))
        outbox.send_play("finish", 1)
        await flush()

    assert with_outbox(script)[0].sent == [1, (1, 1), (1, 2), 2, "finish"]


def test_hold_resume_and_clear_overtake_the_sound_and_nothing_that_was_told_before_it() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        outbox.send_message(message("x", n=1))
        sounds(outbox, 1, 1, 3)
        outbox.send_message(message("x", n=2))
        outbox.send_play("hold", 1)
        outbox.send_play("resume", 1)
        await flush()

    assert with_outbox(script)[0].sent == [1, "hold", "resume", (1, 1), (1, 2), (1, 3), 2]


def test_of_a_voice_that_was_dropped_nothing_leaves_any_more() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        wire.is_open.clear()
        sounds(outbox, 1, 1, 5)
        outbox.send_play("finish", 1)
        await flush()  # the first is on its way
        outbox.drop_sound(1)
        outbox.send_play("clear", 1)
        sounds(outbox, 2, 1, 1)
        wire.is_open.set()
        await flush()

    assert with_outbox(script)[0].sent == [(1, 1), "clear", (2, 1)]


def test_a_client_that_does_not_read_is_let_go_at_once_and_costs_no_more_memory() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        wire.is_open.clear()
        sounds(outbox, 1, 1, 2_000)
        assert gone == ["gone"]
        assert outbox.unread_bytes == 0
        outbox.send_play("hold", 1)
        outbox.send_message(message("x", n=1))
        assert outbox.unread_bytes == 0
        wire.is_open.set()
        await flush()

    wire, _ = with_outbox(script)
    assert wire.closed == (SLOW_READER.code, SLOW_READER.reason)
    assert len(wire.sent) <= 1


def test_reading_slowly_is_not_the_same_as_not_reading() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        for chunk in range(2_000):
            outbox.send_sound(1, chunk, bytes(1_000))
            await asyncio.sleep(0.001)
        outbox.drop_sound(1)
        for chunk in range(80):
            outbox.send_sound(2, chunk, bytes(1_000))
        await flush()

    wire, gone = with_outbox(script)
    assert not gone
    assert wire.closed is None


def test_what_was_told_before_the_goodbye_is_sent_before_it_and_sound_is_not() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        outbox.send_message(message("x", n=1))
        sounds(outbox, 1, 1, 3)
        outbox.disconnect(STOPPING)
        outbox.disconnect(SLOW_READER)
        outbox.send_message(message("x", n=2))
        assert gone == ["gone"]
        await flush()

    wire, gone = with_outbox(script)
    assert wire.sent == [1, "stopping"]
    assert wire.closed == (STOPPING.code, STOPPING.reason)
    assert gone == ["gone"]


def test_a_socket_that_breaks_in_the_middle_is_the_end_of_writing_and_of_nothing_else() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        wire.failure = ConnectionResetError()
        outbox.send_message(message("x", n=1))
        await flush()
        outbox.send_message(message("x", n=2))
        assert outbox.is_closing

    assert with_outbox(script)[0].sent == []


def test_half_a_character_from_a_service_does_not_silence_the_socket() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        outbox.send_message(message("x", text="half \ud83d a face", n=1))
        outbox.send_message(message("x", n=2))
        await flush()

    assert with_outbox(script)[0].sent == [1, 2]
