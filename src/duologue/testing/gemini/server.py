"""A Gemini Live server on a local port that follows a script and enforces the protocol.

    async with GeminiServer([Speak("Hello.")]) as server:
        model = GeminiLive(url=server.url, ears=...)

The server checks every message in both directions, and records all messages for the test. Rule: the server follows the
protocol, unless the test calls a method that makes it misbehave. If a client broke the protocol, the end of the `async
with` block raises AssertionError.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from duologue.testing.realtime.script import ScriptPart, Speak, parts_of

from .session import ScriptedGeminiSession

WAIT_S = 20  # only a failing test waits this long
_SILENT = logging.Logger("duologue.testing.gemini", logging.CRITICAL + 1)


class GeminiServer:
    """A scripted Gemini Live server. `script` is a list of answers. After the last of them, every answer is
    `otherwise`. `hears` lists the transcripts of the user's turns. With `plays`, the server sends the end of a turn
    only when the next turn begins, like a server that waits until the sound was played."""

    def __init__(
        self,
        script: Iterable[Any] = (),
        *,
        hears: list[str] | None = None,
        otherwise: ScriptPart = Speak("I see."),  # noqa: B008 - a value
        plays: bool = False,
    ) -> None:
        self._queue = list(script)
        self.hears = list(hears or ())
        self.otherwise = otherwise
        self.plays = plays
        self.resumable: dict[str, list[dict[str, Any]]] = {}  # handle -> the turns of that session
        self.refuses: list[int] = []  # HTTP status codes for the next handshakes
        self.closes: list[tuple[int, str]] = []  # how the next setups are refused
        self.sessions: list[ScriptedGeminiSession] = []
        self.handshakes: list[Request] = []
        self.received: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self._server: Server | None = None
        self._more = asyncio.Event()

    async def __aenter__(self) -> GeminiServer:
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._check_handshake,
            compression=None,
            ping_interval=None,
            close_timeout=0.2,
            max_size=None,
            logger=_SILENT,
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        assert self._server is not None
        for session in self.sessions:
            session.stop()
        self._server.close()
        await self._server.wait_closed()
        if kind is None:
            assert not self.problems, self.problems

    @property
    def url(self) -> str:
        assert self._server is not None
        port = next(iter(self._server.sockets)).getsockname()[1]
        return f"ws://127.0.0.1:{port}/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

    # -- For tests to check

    @property
    def session(self) -> ScriptedGeminiSession:
        """The newest session that belongs to a conversation. Connections that only read a text aloud are skipped."""
        return [session for session in self.sessions if not session.reads_aloud][-1]

    def got(self, *path: str) -> list[Any]:
        """All values that clients sent under this path, such as ("realtimeInput", "activityEnd")."""
        return _under(self.received, path)

    def gave(self, *path: str) -> list[Any]:
        """All values that the server sent under this path."""
        return _under(self.sent, path)

    async def until(self, holds: Callable[[], object], limit_s: float = WAIT_S) -> None:
        """Wait until `holds()` is true, for at most `limit_s` seconds. `holds()` is checked after every message in
        either direction."""
        async with asyncio.timeout(limit_s):
            while not holds():
                self._more.clear()
                await self._more.wait()

    # -- For the sessions

    def next_answer(self) -> list[ScriptPart]:
        return parts_of(self._queue.pop(0)) if self._queue else [self.otherwise]

    def note(self, message: dict[str, Any], is_sent: bool) -> None:
        (self.sent if is_sent else self.received).append(message)
        self._more.set()

    def note_problems(self, problems: list[str]) -> None:
        """Record these violations of the protocol by a client."""
        self.problems += problems
        self._more.set()

    # -- Inside

    def _check_handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        self.handshakes.append(request)
        if self.refuses:
            return connection.respond(HTTPStatus(self.refuses.pop(0)), "refused\n")
        return None

    async def _serve(self, connection: ServerConnection) -> None:
        session = ScriptedGeminiSession(self, connection, len(self.sessions) + 1)
        self.sessions.append(session)
        await session.run()


def _under(messages: list[dict[str, Any]], path: tuple[str, ...]) -> list[Any]:
    found: list[Any] = list(messages)
    for name in path:
        found = [one[name] for one in found if isinstance(one, dict) and name in one]
    return found
