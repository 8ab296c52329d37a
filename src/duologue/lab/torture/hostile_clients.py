"""Hostile clients, in a separate process: `python -m duologue.lab.torture.hostile_clients`.

There are twenty clients. Ten of them share one network address, and each of the other ten has its own address. Each
client does one kind of abuse as fast as it can. The server serves what its limits allow, and refuses the rest. The
process prints "ready" when it begins; and when standard input is closed, it prints as JSON how many acts of each kind
reached the server. If none did, the run says nothing about fairness. Rule: each kind of abuse is one function with a
port and an address as arguments. It ends only when it is cancelled.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import io
import itertools
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

from duologue.core import events as ev
from duologue.core.machine import step
from duologue.core.settings import profile
from duologue.core.state import initial
from duologue.observe.journal_writer import JournalWriter

from .hostile_agent import LOUD
from .plain_client import NoAnswer, PlainClient

Abuse = Callable[[int, str], Awaitable[None]]
CLIENTS = 20
_SEATS = itertools.count()
_FRAME = bytes([0, LOUD >> 7]) * 3_200  # 200 ms of loud sound at 16 kHz: 50 frames a second are ten times real time
HALF_OPEN = 40
JOURNAL_EVENTS = 2_000  # of each journal that is to be replayed
SLOW_VALUES = 1_900  # of one message from a client that isn't admitted yet
_PINGS = bytes((0x89, 0x80, 0, 0, 0, 0)) * 10_000  # frames without data
_CHUNKS = b"1\r\na\r\n" * 10_000
_BUTTONS = ("press", "release", "suspend", "resume")
_UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
)
REACHED: Counter[str] = Counter()  # acts that reached the server, by kind of abuse


def address_of(client: int) -> str:
    """The address of a client. Half of the clients share one address, and each of the others has its own."""
    return "127.0.2.1" if client < CLIENTS // 2 else f"127.0.3.{client}"


@contextlib.asynccontextmanager
async def _begun(port: int, address: str) -> AsyncIterator[PlainClient]:
    """A client in a conversation. It is closed at the end of the `with` block."""
    client = await PlainClient.open(port, address)
    try:
        await client.begin(f"hostile {next(_SEATS)}")
        yield client
    finally:
        await client.close()


async def _note(kind: str, sending: Awaitable[bool]) -> None:
    """Count an act that reaches the server. Raises NoAnswer if the socket is closed, so that the client comes back."""
    if not await sending:
        raise NoAnswer("the server has closed the socket")
    REACHED[kind] += 1


async def type_much(port: int, address: str) -> None:
    """Send turns of 4,000 characters, without waiting for answers."""
    async with _begun(port, address) as client:
        text = "much " * 800
        for number in itertools.count():
            await _note("type much", client.send("type", text=text, id=str(number)))
            await asyncio.sleep(0.01)


async def type_often(port: int, address: str) -> None:
    """Send short turns, each of which supersedes the one before."""
    async with _begun(port, address) as client:
        for number in itertools.count():
            await _note("type often", client.send("type", text=f"turn {number}", id=str(number)))
            await asyncio.sleep(0.01)


async def stream_sound(port: int, address: str) -> None:
    """Send sound at more than ten times real time."""
    async with _begun(port, address) as client:
        while True:
            await _note("stream sound", client.send_raw(_FRAME))
            await asyncio.sleep(0.015)


async def block_tools(port: int, address: str) -> None:
    """Make the agent use eight tools at a time, each of which blocks for five seconds."""
    async with _begun(port, address) as client:
        while True:
            await _note("block tools", client.send("type", text="sleep 5000 8"))
            await asyncio.sleep(1.0)


async def start_often(port: int, address: str) -> None:
    """Start new conversations, say nothing in them, and abandon them at once."""
    while True:
        with contextlib.suppress(NoAnswer, OSError):
            client = await PlainClient.open(port, address)
            await client.send("hello", version=1, seat=f"hostile {next(_SEATS)}")
            await _note("start often", client.send("start"))
            await asyncio.sleep(0.02)
            await client.close()


async def half_open(port: int, address: str) -> None:
    """Open HTTP requests whose head never ends."""
    while True:
        opened = []
        for _ in range(HALF_OPEN):
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
                writer.write(b"GET / HTTP/1.1\r\nX-Slow: ")
                opened.append(writer)
                REACHED["half-open requests"] += 1
        await asyncio.sleep(1.0)
        for writer in opened:
            writer.close()


async def ask_replays(port: int, address: str) -> None:
    """Upload long journals to be replayed."""
    body = _long_journal()
    head = f"POST /debug/replay HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            writer.write(head + body)
            if (await reader.read(100)).startswith(b"HTTP/1.1 200 "):
                REACHED["ask for replays"] += 1
            writer.close()


@functools.cache
def _long_journal() -> bytes:
    """A journal that replays without an error: many typed turns, each of which supersedes the one before."""
    out, settings = io.StringIO(), profile("confirm")
    journal, state = JournalWriter(out, settings), initial(settings)
    typed = (ev.TextTyped(2 + number, 2 + number, 1 + number) for number in range(JOURNAL_EVENTS))
    for event in (ev.StartRequested(0, 1), ev.SessionReady(1, 1), *typed):
        state, _ = step(state, event)
        journal.add(event, state)
    journal.close()
    return out.getvalue().encode()


async def send_much(port: int, address: str) -> None:
    """Send as many messages on one socket as its limits allow."""
    async with _begun(port, address) as client:
        await client.send("type", text="hello")
        for number in itertools.count():
            await _note("send much", client.send("ping", t=number))
            if number > 400:
                await asyncio.sleep(1 / 145)


async def press_buttons(port: int, address: str) -> None:
    """Send as many commands as the limits for messages allow. Each changes the state of the conversation."""
    async with _begun(port, address) as client:
        await client.send("type", text="hello")
        for number in itertools.count():
            await _note("press buttons", client.send(_BUTTONS[number % len(_BUTTONS)]))
            if number > 400:
                await asyncio.sleep(1 / 145)


async def send_large(port: int, address: str) -> None:
    """Send JSON that is slow to parse, before anything else. The first message is as large as the server accepts, and
    the others are much larger."""
    client = await PlainClient.open(port, address)
    try:
        for values in itertools.chain((SLOW_VALUES,), itertools.repeat(150 * SLOW_VALUES)):
            text = '{"type":"ping","payload":{"t":1},"more":[' + "[]," * values + "[]]}"
            await _note("send large", client.send_raw(text))
            await asyncio.sleep(0.01)
    finally:
        await client.close()


async def send_frames(port: int, address: str) -> None:
    """Send control frames without a pause. The limit for messages doesn't apply to them, because they aren't
    messages."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    try:
        writer.write(f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{_UPGRADE}\r\n\r\n".encode())
        if not (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 "):
            raise NoAnswer("the handshake is refused")
        while not reader.at_eof():
            writer.write(_PINGS)
            REACHED["send frames"] += 1
            await writer.drain()
            await reader.read(1 << 16)
    except asyncio.IncompleteReadError:
        raise NoAnswer("the connection was closed") from None
    finally:
        writer.close()


async def send_chunks(port: int, address: str) -> None:
    """Send requests whose bodies never end, and come in chunks of one byte."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    try:
        head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head.encode())
        while not reader.at_eof():
            writer.write(_CHUNKS)
            REACHED["send chunks"] += 1
            await writer.drain()
            await asyncio.sleep(0)  # `drain` doesn't always let the reader see the end
    finally:
        writer.close()


async def request_often(port: int, address: str) -> None:
    """Send HTTP requests without a pause, several at a time, over connections that stay open. They are for a file,
    because the limit allows four times as many of these."""

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        try:
            request = f"GET /main.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode() * 8
            while not reader.at_eof():
                writer.write(request)
                if (await reader.read(1 << 16)).startswith(b"HTTP/1.1 200 "):
                    REACHED["request often"] += 1
        finally:
            writer.close()

    await asyncio.gather(*(ask() for _ in range(5)))


ABUSES: dict[str, Abuse] = {
    "type much": type_much,
    "type often": type_often,
    "stream sound": stream_sound,
    "block tools": block_tools,
    "start often": start_often,
    "half-open requests": half_open,
    "ask for replays": ask_replays,
    "send much": send_much,
    "press buttons": press_buttons,
    "send large": send_large,
    "send frames": send_frames,
    "send chunks": send_chunks,
    "request often": request_often,
}


async def abuse(kind: str, port: int) -> None:
    """Let every client do this kind of abuse. If `kind` is "all", the clients do different kinds, so that all kinds
    happen at the same time. Ends only when it is cancelled."""
    chosen = list(ABUSES.values()) if kind == "all" else [ABUSES[kind]]
    # With "all", clients of the same address do different kinds.
    await asyncio.gather(*(_insist(chosen[at % len(chosen)], port, address_of(at)) for at in range(CLIENTS)))


async def _insist(one: Abuse, port: int, address: str) -> None:
    """Begin again whenever the server has refused or disconnected this client."""
    while True:
        try:
            await one(port, address)
        except (NoAnswer, OSError, ValueError):
            await asyncio.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--kind", required=True)
    given = parser.parse_args()
    os.nice(10)  # they are on other machines: they must not take the CPU of the server
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    asyncio.run(abuse(given.kind, given.port))


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    sys.stdout.write(json.dumps(REACHED) + "\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
