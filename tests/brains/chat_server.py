"""A chat-completions server on a local port that misbehaves on request.

Each request is answered by the next script, which writes any bytes to a `Wire`. Rule: nothing here sleeps;
scripts wait for events, and tests wait with a limit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from duologue.brains import ChatBrain
from tests.limits import WAIT_S

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}


class Wire:
    """The server's end of one connection, while it answers one request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        self._reader = reader
        self._writer = writer
        self._gone = gone
        self._is_chunked = False

    async def raw(self, data: bytes) -> None:
        """These bytes, as one chunk if the answer is chunked."""
        framed = b"%x\r\n%s\r\n" % (len(data), data) if self._is_chunked else data
        self._writer.write(framed)
        await self._writer.drain()

    async def begin(self, *, chunked: bool = True) -> None:
        """The head of a stream. One that is not chunked ends when the connection does."""
        framing = "Transfer-Encoding: chunked" if chunked else "Connection: close"
        await self.raw(f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{framing}\r\n\r\n".encode())
        self._is_chunked = chunked

    async def data(self, data: object) -> None:
        """One event with this as JSON."""
        await self.raw(b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n")

    async def delta(self, finish: str | None = None, **delta: object) -> None:
        """One event with this delta."""
        await self.data({"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    async def finish(self, reason: str = "stop") -> None:
        """Everything that ends a good stream."""
        await self.delta(finish=reason)
        await self.raw(b"data: [DONE]\n\n")
        await self.end()

    async def end(self) -> None:
        """The end of the body, whatever was or wasn't said."""
        if self._is_chunked:
            self._writer.write(b"0\r\n\r\n")
            self._is_chunked = False
        else:
            self._writer.close()
        await self._writer.drain()

    async def whole(self, status: int, body: object, content_type: str = "application/json") -> None:
        """An answer that is not streamed."""
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}\r\nContent-Type: {content_type}\r\n"
        await self.raw(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)

    def break_off(self) -> None:
        """Abort the connection, as when the server dies."""
        self._writer.transport.abort()

    async def until_gone(self) -> None:
        """Wait until the client has closed its end."""
        assert await self._reader.read(1) == b""
        self._gone.set()


Script: TypeAlias = Callable[[Wire], Awaitable[None]]


class ChatServer:
    """A server for the duration of a `with` block; it records every request."""

    def __init__(self, *scripts: Script) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.heads: list[str] = []
        self.connections = 0
        self.asked = asyncio.Event()
        self.gone = asyncio.Event()  # a client left before its answer was complete
        self._scripts = list(scripts)
        self._tasks: set[asyncio.Task[None]] = set()
        self._problems: list[BaseException] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> ChatServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def check(self, body: dict[str, Any]) -> None:
        """Raise an exception if a request is wrong. This server accepts every request."""

    async def stop(self) -> None:
        """Stop listening."""
        self._server.close()
        await self._server.wait_closed()

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        assert not self._problems, f"the script failed: {self._problems}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        try:
            while await self._answer(reader, writer):
                pass
        except ConnectionError:
            self.gone.set()
        except asyncio.CancelledError:
            pass  # the test is over
        except Exception as problem:  # noqa: BLE001 - raised at the end of the block
            self._problems.append(problem)
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; False when the client has no more."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            return False
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-len"))
        self.bodies.append(json.loads(await reader.readexactly(length)))
        self.heads.append(head)
        self.asked.set()
        self.check(self.bodies[-1])
        await self._scripts.pop(0)(Wire(reader, writer, self.gone))
        return not writer.is_closing()


def says(*texts: str) -> Script:
    """A complete reply in these pieces."""

    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(role="assistant", content="")
        for text in texts:
            await wire.delta(content=text)
        await wire.finish()

    return script


def answers(status: int, body: object = "", content_type: str = "application/json") -> Script:
    """An answer that is not streamed."""

    async def script(wire: Wire) -> None:
        await wire.whole(status, body, content_type)

    return script


def stalls_after(*texts: str) -> Script:
    """The begin of a reply, then silence until the client has left."""

    async def script(wire: Wire) -> None:
        await wire.begin()
        for text in texts:
            await wire.delta(content=text)
        await wire.until_gone()

    return script


@asynccontextmanager
async def talking(*scripts: Script, **options: Any) -> AsyncIterator[tuple[ChatServer, ChatBrain]]:
    """A server with these scripts and a brain that uses it, within the time that a test may take."""
    async with asyncio.timeout(WAIT_S), ChatServer(*scripts) as server:
        brain = ChatBrain("small", base_url=server.url, **options)
        try:
            yield server, brain
        finally:
            await brain.close()
