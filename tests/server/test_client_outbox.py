"""One socket's queue: urgent messages overtake sound, dropped sound is never sent, and sending never waits."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_outbox import ClientOutbox
from duologue.server.close_codes import SLOW_READER, STOPPING
from duologue.server.server_messages import message
from duologue.server.voice_frames import OpusFrames, PcmFrames

from .opus_client import parse, wave


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


def test_messages_and_sound_are_sent_in_order() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        outbox.send_message(message("x", n=1))
        sounds(outbox, 1, 1, 2)
        outbox.send_message(message("x", n=2))
        outbox.send_play("finish", 1)
        await flush()

    assert with_outbox(script)[0].sent == [1, (1, 1), (1, 2), 2, "finish"]


def test_hold_resume_and_clear_overtake_sound_and_no_message() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        outbox.send_message(message("x", n=1))
        sounds(outbox, 1, 1, 3)
        outbox.send_message(message("x", n=2))
        outbox.send_play("hold", 1)
        outbox.send_play("resume", 1)
        await flush()

    assert with_outbox(script)[0].sent == [1, "hold", "resume", (1, 1), (1, 2), (1, 3), 2]


def test_nothing_of_a_dropped_voice_is_sent() -> None:
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


def test_a_stopped_cue_is_not_sent_any_more_and_the_stop_overtakes_sound() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        wire.is_open.clear()
        outbox.send_message(message("x", n=1))
        await flush()  # the first is on its way
        sounds(outbox, 1, 1, 1)
        outbox.send_cue(5, bytes(100))
        outbox.send_ambient(bytes(100))
        outbox.stop_cue()
        outbox.send_cue(6, bytes(100))
        wire.is_open.set()
        await flush()

    assert with_outbox(script)[0].sent == [1, "stop", (1, 1), (0, 0), (6, 0)]


def test_the_kind_of_a_frame_tells_voices_cues_and_ambient_sound_apart() -> None:
    kinds: list[int] = []

    async def whole() -> None:
        async def send(event: dict[str, Any]) -> None:
            kinds.append(event["bytes"][0])

        outbox = ClientOutbox(send, 10_000)
        writing = asyncio.ensure_future(outbox.write())
        outbox.send_sound(1, 1, bytes(2))
        outbox.send_cue(1, bytes(2))
        outbox.send_ambient(bytes(2))
        await flush()
        outbox.close()
        await writing

    run_simulated(whole())
    assert kinds == [1, 2, 3]


def test_sound_is_encoded_when_it_is_sent_and_the_rest_comes_before_the_end() -> None:
    """What was dropped from the queue doesn't reach the encoder, so what follows it begins a stream."""
    sent: list[Any] = []
    noted: list[tuple[int, int]] = []

    async def whole() -> None:
        is_open = asyncio.Event()

        async def send(event: dict[str, Any]) -> None:
            await is_open.wait()
            if "bytes" in event:
                frame = parse(event["bytes"])
                sent.append((frame.number, frame.chunk, frame.is_new, frame.samples, len(frame.packets)))
            else:
                sent.append(json.loads(event["text"])["payload"]["action"])

        outbox = ClientOutbox(send, 100_000)
        outbox.use(OpusFrames(), lambda frame, pcm: noted.append((frame, pcm)))
        writing = asyncio.ensure_future(outbox.write())
        pcm = wave(1_000)
        for chunk in (1, 2, 3):
            outbox.send_sound(1, chunk, pcm)
        await flush()  # the first is on its way
        outbox.drop_sound(1)
        outbox.send_sound(2, 1, pcm)
        outbox.send_sound(2, 2, pcm)
        outbox.send_cue(4, pcm)
        outbox.send_play("finish", 2)
        is_open.set()
        await flush()
        outbox.close()
        await writing

    run_simulated(whole())
    assert sent == [(1, 1, True, 1_000, 2), (2, 1, True, 1_000, 2), (2, 2, False, 1_000, 2), (4, 0, True, 1_000, 3),
                    (2, 2, False, 0, 1), "finish"]  # fmt: skip
    assert [pcm for _, pcm in noted] == [2_000, 2_000, 2_000, 2_000, 0]
    assert all(0 < frame < 600 for frame, _ in noted)


def test_a_voice_that_runs_out_of_sound_is_completed_unless_more_comes_soon() -> None:
    sent: list[Any] = []

    async def whole() -> None:
        async def send(event: dict[str, Any]) -> None:
            at_ms = round(asyncio.get_running_loop().time() * 1000)
            frame = parse(event["bytes"])
            sent.append((at_ms, frame.chunk, frame.is_new, frame.samples))

        outbox = ClientOutbox(send, 100_000)
        outbox.use(OpusFrames(), lambda frame, pcm: None)
        writing = asyncio.ensure_future(outbox.write())
        start_s = asyncio.get_running_loop().time()
        outbox.send_sound(1, 1, wave(1_000))
        outbox.complete_soon(1)
        await asyncio.sleep(0.03)
        outbox.send_sound(1, 2, wave(1_000))
        for _ in range(3):
            outbox.complete_soon(1)
        await asyncio.sleep(0.07)
        outbox.complete_soon(1)  # it is complete
        await asyncio.sleep(0.1)
        outbox.send_sound(1, 3, wave(1_000))
        await asyncio.sleep(0.1)
        outbox.complete_soon(1)
        outbox.drop_sound(1)
        outbox.close()
        await writing
        sent[:] = [(at_ms - round(start_s * 1000), *rest) for at_ms, *rest in sent]

    run_simulated(whole())
    assert sent == [(0, 1, True, 1_000), (30, 2, False, 1_000), (70, 2, False, 0), (200, 3, True, 1_000)]


def test_pcm_needs_no_completion() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        sounds(outbox, 1, 1, 1)
        outbox.complete_soon(1)
        await flush()

    assert with_outbox(script)[0].sent == [(1, 1)]


def test_a_client_that_does_not_read_is_disconnected_and_its_queue_freed() -> None:
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


def test_a_slow_reader_is_not_disconnected() -> None:
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


def test_queued_messages_are_sent_before_the_close_and_sound_is_not() -> None:
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


def test_a_broken_socket_ends_only_the_writing() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        wire.failure = ConnectionResetError()
        outbox.send_message(message("x", n=1))
        await flush()
        outbox.send_message(message("x", n=2))
        assert outbox.is_closing

    assert with_outbox(script)[0].sent == []


def test_a_lone_surrogate_from_a_service_does_not_stop_the_socket() -> None:
    async def script(outbox: ClientOutbox, wire: Wire, gone: list[str]) -> None:
        outbox.send_message(message("x", text="half \ud83d a face", n=1))
        outbox.send_message(message("x", n=2))
        await flush()

    assert with_outbox(script)[0].sent == [1, 2]


# -- A socket that can be written to at once


class Direct:
    """A socket that takes frames at once, unless it is full."""

    def __init__(self) -> None:
        self.may_write = True
        self.written: list[str | bytes] = []

    def write(self, messages: Iterable[str | bytes]) -> None:
        self.written += messages


def directly(script: Callable[[ClientOutbox, Direct, list[dict[str, Any]]], Awaitable[None]]) -> None:
    """Run a script with an outbox that writes, and with a list of what it has sent otherwise."""

    async def whole() -> None:
        sent: list[dict[str, Any]] = []

        async def send(event: dict[str, Any]) -> None:
            sent.append(event)
            await asyncio.sleep(0)

        direct = Direct()
        outbox = ClientOutbox(send, 10_000, direct=direct)
        writing = asyncio.create_task(outbox.write())
        await asyncio.sleep(0)
        await script(outbox, direct, sent)
        outbox.close()
        await writing

    run_simulated(whole())


def test_what_can_be_written_is_written_at_once() -> None:
    async def script(outbox: ClientOutbox, direct: Direct, sent: list[dict[str, Any]]) -> None:
        outbox.send_sound(1, 1, b"aa")
        outbox.send_play("hold", 1)
        assert direct.written[0] == PcmFrames().chunk(1, 1, b"aa")
        assert '"action":"hold"' in str(direct.written[1])
        assert outbox.unread_bytes == 0
        assert not sent

    directly(script)


def test_what_a_full_socket_cannot_take_waits_and_a_command_overtakes_its_sound() -> None:
    async def script(outbox: ClientOutbox, direct: Direct, sent: list[dict[str, Any]]) -> None:
        direct.may_write = False
        for chunk in (1, 2, 3):
            outbox.send_sound(1, chunk, b"aa")
        outbox.send_play("hold", 1)
        assert not direct.written
        await asyncio.sleep(0)  # the writer has taken the command, and waits until it is sent
        assert [sorted(event) for event in sent] == [["text", "type"]]
        direct.may_write = True
        outbox.send_sound(1, 4, b"aa")
        assert not direct.written, "what was queued comes first"
        while outbox.unread_bytes:
            await asyncio.sleep(0)
        assert direct.written == [PcmFrames().chunk(1, chunk, b"aa") for chunk in (1, 2, 3, 4)]

    directly(script)


def test_dropped_sound_is_not_written_when_the_socket_has_room_again() -> None:
    async def script(outbox: ClientOutbox, direct: Direct, sent: list[dict[str, Any]]) -> None:
        direct.may_write = False
        outbox.send_sound(1, 1, b"aa")
        outbox.send_sound(1, 2, b"aa")
        outbox.drop_sound(1)
        direct.may_write = True
        outbox.send_play("clear", 1)
        for _ in range(5):
            await asyncio.sleep(0)
        assert '"action":"clear"' in str(direct.written)
        assert [frame for frame in direct.written if isinstance(frame, bytes)] == []
        assert not [event for event in sent if "bytes" in event]

    directly(script)
