"""A client of the server's protocol with a network address of its own. Honest and hostile callers use it.

On Linux, a computer has all addresses of 127.0.0.0/8, so callers on one computer can have different ones. Rule: the
client reports every sound as played at the moment when the sound arrives.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from typing import Any

from duologue.client import ConnectionFailed, ProtocolSocket, ServerSaid, VoiceChunk
from duologue.client.messages import SAMPLES_PER_MS, VOICE

WAIT_S = 20.0


class NoAnswer(Exception):
    """The client waited for something that didn't come in time, or the socket was closed. The message says what it
    waited for."""


class PlainClient:
    """One client. `errors` counts the errors that the server has sent, by code, and `warnings` its notices that
    something is wrong, such as "unsaved"."""

    def __init__(self, socket: ProtocolSocket) -> None:
        self.socket = socket
        self.state = ""
        self.sounds = 0  # voices that have begun to play
        self.finished = 0  # voices that were played to their end
        self.errors: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()
        self.answer = ""  # what was heard of the newest answer, once it is over
        self._heard_ms: Counter[int] = Counter()
        self._voice = 0
        self._news = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

    @classmethod
    async def open(cls, port: int, address: str) -> PlainClient:
        """Connect from this address. Raises NoAnswer if the server refuses the connection."""
        try:
            return cls(await ProtocolSocket.open(f"ws://127.0.0.1:{port}/ws", WAIT_S, local_addr=(address, 0)))
        except ConnectionFailed as refused:
            raise NoAnswer(f"refused: {refused}") from None

    async def begin(self, seat: str) -> None:
        """Say hello, start a conversation, and wait until it listens. Raises NoAnswer if that is refused."""
        await self.send("hello", version=1, seat=seat)
        await self.send("start")
        await self.until(lambda: self.state == "listening" or bool(self.errors), "an open floor")
        if self.errors:
            raise NoAnswer(f"refused: {', '.join(self.errors)}")

    async def send(self, kind: str, **payload: Any) -> bool:
        """Send a message. Returns False if the socket is closed."""
        return await self.socket.send(kind, **payload)

    async def send_raw(self, data: str | bytes) -> bool:
        """Send a frame unchanged. Returns False if the socket is closed."""
        return await self.socket.send_raw(data)

    async def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until `holds` returns true. Raises NoAnswer if that takes too long or if the socket is closed."""
        try:
            async with asyncio.timeout(WAIT_S):
                while not holds():
                    if self._reading.done():
                        raise NoAnswer(f"the socket was closed with {self.socket.close_code} before {what} came")
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise NoAnswer(f"waited {WAIT_S:.0f} s for {what} in vain") from None

    async def close(self) -> None:
        with contextlib.suppress(Exception):
            await self.socket.close()
        self._reading.cancel()

    async def _read(self) -> None:
        try:
            async for received in self.socket:
                if isinstance(received, VoiceChunk):
                    await self._hear(received)
                else:
                    await self._take(received)
                self._news.set()
        finally:
            self._news.set()

    async def _take(self, said: ServerSaid) -> None:
        kind, payload = said
        if kind == "state":
            self.state = payload["state"]
        elif kind == "error":
            self.errors[payload["code"]] += 1
        elif kind == "notification" and payload["level"] != "info":
            self.warnings[payload["code"]] += 1
        elif kind == "caption" and payload["role"] == "assistant" and payload["final"]:
            self.answer = payload["text"]
        elif kind == "play" and payload["action"] == "finish":
            self.finished += 1
            await self.send("finished", voice=payload["voice"], ms=self._heard_ms[payload["voice"]])
        elif kind == "play" and payload["action"] == "clear":
            await self.send("stopped", voice=payload["voice"], ms=self._heard_ms[payload["voice"]])
        elif kind == "play" and payload["action"] == "begin":
            self._heard_ms[payload["voice"]] = payload["ms"]

    async def _hear(self, chunk: VoiceChunk) -> None:
        if chunk.kind != VOICE:
            return
        voice = chunk.number
        if voice != self._voice:
            self._voice = voice
            self.sounds += 1
        self._heard_ms[voice] += chunk.samples // SAMPLES_PER_MS
        await self.send("played", voice=voice, ms=self._heard_ms[voice])
