"""The short way of messages: what the application gets at once, and what uvicorn gets."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
import uvloop
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode, Frame, Opcode

from duologue.fairness.bucket import Rate
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.direct_messages import DIRECT_KEY, FLOODED_BYTES_MAX, FLOODED_S, DirectMessages
from duologue.server.run import DirectSocket, QuietServer

LOOPS = pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
SIZE_MAX = 1_000
REQUEST = b"GET / HTTP/1.1\r\n\r\n"


def frame(data: bytes | str, opcode: Opcode | None = None, fin: bool = True) -> bytes:
    """A frame as a client sends it, masked."""
    kind = opcode if opcode is not None else Opcode.TEXT if isinstance(data, str) else Opcode.BINARY
    return Frame(kind, data.encode() if isinstance(data, str) else data, fin).serialize(mask=True)


class Below(asyncio.Protocol):
    """Stands for uvicorn's protocol: keeps the bytes that it gets."""

    def __init__(self) -> None:
        self.app = lambda *given: None
        self.got: list[bytes] = []
        self.paused: list[bool] = []

    def data_received(self, data: bytes) -> None:
        self.got.append(data)

    def pause_writing(self) -> None:
        self.paused.append(True)

    def resume_writing(self) -> None:
        self.paused.append(False)


class Both(DirectMessages, Below):
    """The short way above that protocol."""


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_over = False
        self.is_paused = False

    def pause_reading(self) -> None:
        self.is_paused = True

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.is_over

    def close(self) -> None:
        self.is_over = True


class Talk:
    """A connection after its request, and an application that takes messages."""

    def __init__(self, takes: Callable[[str | bytes], bool] = lambda message: True) -> None:
        self.taken: list[str | bytes] = []
        self.wire = Wire()
        self.protocol = Both()
        self.protocol.connection_made(self.wire)
        self.protocol.data_received(REQUEST)

        def take(message: str | bytes) -> bool:
            is_taken = takes(message)
            if is_taken:
                self.taken.append(message)
            return is_taken

        self.protocol.pass_to(take, SIZE_MAX)

    def hears(self, *data: bytes) -> Talk:
        for one in data:
            self.protocol.data_received(one)
        return self

    @property
    def below(self) -> bytes:
        """What uvicorn got after the request."""
        assert self.protocol.got[0] == REQUEST
        return b"".join(self.protocol.got[1:])


def test_a_message_in_one_frame_is_taken_at_once_and_uvicorn_never_sees_it() -> None:
    talk = Talk().hears(frame("héllo"), frame(b"\0\1\2"), frame(b"x" * 300))
    assert talk.taken == ["héllo", b"\0\1\2", b"x" * 300]
    assert talk.below == b""


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11])
def test_frames_may_be_cut_anywhere(size: int) -> None:
    data = frame("one") + frame(b"t" * 200) + frame("three") + frame(b"", Opcode.PING) + frame(b"")
    talk = Talk().hears(*(data[at : at + size] for at in range(0, len(data), size)))
    assert talk.taken == ["one", b"t" * 200, "three", b""]
    assert talk.below == data[len(data) - 12 : -6]


def test_control_frames_are_for_uvicorn_in_one_piece() -> None:
    ping, close = frame(b"now", Opcode.PING), frame(b"\x03\xe8", Opcode.CLOSE)
    talk = Talk().hears(frame("a") + ping + frame("b"), close)
    assert talk.taken == ["a", "b"]
    assert talk.protocol.got[1:] == [ping, close]


def test_a_message_that_the_application_does_not_take_now_goes_to_uvicorn() -> None:
    later = frame("later")
    talk = Talk(takes=lambda message: message != "later").hears(frame("now") + later + frame("again"))
    assert talk.taken == ["now", "again"]
    assert talk.below == later


def test_without_an_application_that_takes_messages_uvicorn_gets_everything() -> None:
    protocol = Both()
    protocol.connection_made(Wire())
    for data in (REQUEST, frame("a"), frame(b"b")):
        protocol.data_received(data)
    assert b"".join(protocol.got) == REQUEST + protocol.got[1] + protocol.got[2]
    assert len(protocol.got) == 3


@pytest.mark.parametrize("size", [1, 7, 1_000, 65_536])
def test_a_long_message_may_be_cut_anywhere_and_what_follows_is_still_counted(size: int) -> None:
    async def scene() -> None:
        data = frame(b"z" * 70_000) + frame("after") * 3
        floods: list[str] = []
        talk = Talk()
        talk.protocol.limit_frames(Rate(1, 1_000, 3), Rate(1, 1_000, 3), 100_000, lambda: floods.append("flood"))
        talk.hears(*(data[at : at + size] for at in range(0, len(data), size)))
        assert talk.taken == []
        assert talk.below == data[: -len(frame("after"))], "the fourth frame is one too many"
        assert floods == ["flood"]

    run_simulated(scene())


@pytest.mark.parametrize(
    "flood", [frame(b"", Opcode.PING), frame("a", fin=False), frame("whole")], ids=["ping", "fragment", "message"]
)
def test_a_client_that_sends_too_many_frames_is_told_and_not_read_any_more(flood: bytes) -> None:
    async def scene() -> None:
        talk = Talk()
        talk.protocol.limit_frames(Rate(10, 1_000, 20), Rate(10, 1_000, 20), 1_000, lambda: None)
        talk.hears(flood * 20)
        await asyncio.sleep(1.0)
        talk.hears(flood * 10)
        assert talk.wire.written == b""
        talk.hears(flood * 1_000, flood)
        assert len(talk.below) // len(flood) + len(talk.taken) == 30
        assert talk.wire.written.endswith(b"Too many frames.")
        assert not talk.wire.is_paused
        talk.hears(bytes(FLOODED_BYTES_MAX))
        assert talk.wire.is_paused, "it is no longer worth to read what is dropped"
        assert not talk.wire.is_over, "the client must be able to read why"
        await asyncio.sleep(FLOODED_S)
        assert talk.wire.is_over

    run_simulated(scene())


def test_a_frame_that_is_too_large_for_an_unknown_client_is_refused_before_it_has_come() -> None:
    async def scene() -> None:
        large = frame(b"z" * 100_000)
        unknown, admitted = Talk(), Talk()
        for talk in (unknown, admitted):
            talk.protocol.limit_frames(Rate(10, 1_000, 20), Rate(10, 1_000, 20), 99_999, lambda: None)
        unknown.hears(large[:20], large[20:])
        assert unknown.below == b""
        assert unknown.wire.written.endswith(b"Too many frames.")
        admitted.protocol.admit()
        assert admitted.hears(large[:20], large[20:]).below == large

    run_simulated(scene())


def test_an_unknown_client_may_send_fewer_frames_than_one_that_was_admitted() -> None:
    async def scene() -> None:
        unknown, admitted = Talk(), Talk()
        for talk in (unknown, admitted):
            talk.protocol.limit_frames(Rate(1, 1_000, 5), Rate(1, 1_000, 50), 1_000, lambda: None)
        unknown.hears(frame("a") * 60)
        admitted.hears(frame("a") * 5)
        admitted.protocol.admit()
        admitted.hears(frame("a") * 60)
        assert (len(unknown.taken), len(admitted.taken)) == (5, 55)

    run_simulated(scene())


def test_an_application_closes_a_flooded_socket_with_its_own_reason() -> None:
    async def scene() -> None:
        talk, closed = Talk(), []
        talk.protocol.pass_to(lambda message: True, SIZE_MAX, lambda: closed.append("4429"))
        talk.protocol.limit_frames(Rate(10, 1_000, 20), Rate(10, 1_000, 20), 1_000, lambda: None)
        talk.hears(frame("a") * 100)
        assert closed == ["4429"]
        assert talk.wire.written == b""

    run_simulated(scene())


@pytest.mark.parametrize(
    "wrong",
    [
        frame("first half", fin=False),
        frame(b"rest", Opcode.CONT),
        Frame(Opcode.TEXT, b"unmasked").serialize(mask=False),
        b"\xc1\x81\0\0\0\0a",
        b"\x83\x81\0\0\0\0a",
        frame(b"z" * 70_000),
    ],
    ids=["fragment", "continuation", "unmasked", "extension", "unknown", "long"],
)
def test_after_a_frame_that_only_uvicorn_understands_it_gets_all_that_follows(wrong: bytes) -> None:
    after = frame("after")
    talk = Talk().hears(frame("before"), wrong + after, frame("more"))
    assert talk.taken == ["before"]
    assert talk.below.startswith(wrong + after)
    assert len(talk.below) == len(wrong + after) + len(frame("more"))


def test_a_message_that_is_too_large_or_not_text_is_for_uvicorn() -> None:
    large, broken = frame(b"x" * (SIZE_MAX + 1)), frame(b"\xff\xfe", Opcode.TEXT)
    talk = Talk().hears(large, broken, frame(b"y" * SIZE_MAX))
    assert talk.taken == [b"y" * SIZE_MAX]
    assert talk.protocol.got[1:] == [large, broken]


def test_nothing_is_taken_from_a_connection_that_closes() -> None:
    talk = Talk()
    talk.wire.is_over = True
    assert talk.hears(frame("late")).taken == []
    assert not talk.protocol.may_write


def test_messages_are_written_as_one_frame_each() -> None:
    talk = Talk()
    messages = ["text", b"bytes", b"x" * 126, b"y" * 65_535, b"z" * 65_536]
    talk.protocol.write(messages)
    kinds = [Opcode.TEXT if isinstance(one, str) else Opcode.BINARY for one in messages]
    datas = [one.encode() if isinstance(one, str) else one for one in messages]
    expected = [Frame(kind, data).serialize(mask=False) for kind, data in zip(kinds, datas, strict=True)]
    assert talk.wire.written == b"".join(expected)


def test_a_full_transport_is_not_written_to() -> None:
    talk = Talk()
    talk.protocol.pause_writing()
    assert not talk.protocol.may_write
    talk.protocol.resume_writing()
    assert talk.protocol.may_write
    assert talk.protocol.paused == [True, False]


# -- With uvicorn and real clients


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, log_level="error", ws=DirectSocket, interface="asgi3", lifespan="off", ws_per_message_deflate=False
    )
    server = QuietServer(config)
    task = asyncio.create_task(server.serve([listening]))
    while not server.started:
        await asyncio.sleep(0.001)
    try:
        yield f"ws://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        server.should_exit = True
        await task


async def echo(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers `slow…` from a task, and everything else at once."""
    direct = scope[DIRECT_KEY]

    def take(message: str | bytes) -> bool:
        if isinstance(message, str) and message.startswith("slow"):
            return False
        direct.write([message, "at once"])
        return True

    await receive()
    await send({"type": "websocket.accept"})
    direct.pass_to(take, SIZE_MAX)
    while (event := await receive())["type"] != "websocket.disconnect":
        await send({"type": "websocket.send", "text": f"in the task: {event['text']}"})


@LOOPS
def test_both_ways_work_on_one_socket(run: Callable[[Any], None]) -> None:
    async def scene() -> None:
        async with serving(echo) as url, connect(url) as client:
            for said in ("one", b"two", "slow three", "four"):
                await client.send(said)
            got = [await client.recv() for _ in range(7)]
            assert got[:4] == ["one", "at once", b"two", "at once"]
            assert sorted(map(str, got[4:])) == ["at once", "four", "in the task: slow three"]
            await (await client.ping())

    run(scene())


@LOOPS
def test_a_client_that_sends_fragments_is_understood(run: Callable[[Any], None]) -> None:
    async def scene() -> None:
        async with serving(echo) as url, connect(url) as client:
            await client.send(["slow ", "and ", "cut"])
            assert await client.recv() == "in the task: slow and cut"
            await client.send("whole")
            assert await client.recv() == "in the task: whole"

    run(scene())


@LOOPS
def test_a_text_that_is_not_utf8_closes_the_socket(run: Callable[[Any], None]) -> None:
    async def scene() -> None:
        async with serving(echo) as url, connect(url) as client:
            await client.send(b"\xff\xfe", text=True)
            with pytest.raises(ConnectionClosed) as closed:
                await client.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == CloseCode.INVALID_DATA

    run(scene())


def test_the_protocol_of_the_server_takes_the_short_way() -> None:
    assert issubclass(DirectSocket, DirectMessages)
    assert issubclass(DirectSocket, WebSocketsSansIOProtocol)
