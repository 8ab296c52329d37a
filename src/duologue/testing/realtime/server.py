"""A Realtime server on a local port that follows a script and enforces the protocol.

    async with RealtimeServer([Speak("Hello.")]) as server:
        model = RealtimeModel(url=server.url)

The server checks every event in both directions, and records all events for the test. Rule: the server follows the
protocol, errors included, unless the test makes it misbehave, with a `ProtocolFault` or by calling a method. If a
client broke the protocol, the end of the `async with` block raises AssertionError.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from .script import (
    BreakDown,
    CallTool,
    FallSilent,
    ProtocolFault,
    RealtimeScript,
    ScriptPart,
    Speak,
    WriteText,
    parts_of,
)
from .session import ScriptedRealtimeSession

__all__ = ["BreakDown", "CallTool", "FallSilent", "ProtocolFault", "RealtimeServer", "Speak", "WriteText"]

WAIT_S = 20  # only a failing test waits this long
_SILENT = logging.Logger("duologue.testing.realtime", logging.CRITICAL + 1)


class RealtimeServer:
    """A scripted Realtime server. `script` is a list of responses, or a function that gets the items of the
    conversation and returns a response. After the last response in the list, every response is `otherwise`. `hears`
    lists the texts that the server recognises, one for each utterance that it detects in the audio. A test can also
    make the server detect an utterance by calling `session.say`."""

    def __init__(
        self,
        script: RealtimeScript = (),
        *,
        hears: list[str] | None = None,
        faults: list[ProtocolFault] | None = None,
        otherwise: ScriptPart = Speak("I see."),  # noqa: B008 - a value
        answers_by_itself: bool = False,
        session_s: int = 3_600,
    ) -> None:
        self._script: Callable[[list[dict[str, Any]]], Any] | None = script if callable(script) else None
        self._queue: list[Any] = [] if callable(script) else list(script)
        self.hears = list(hears or ())
        self.faults = list(faults or ())
        self.otherwise = otherwise
        self.answers_by_itself = answers_by_itself  # even if the client has turned such answers off
        self.session_s = session_s
        self.refuses: list[int] = []  # HTTP status codes for the next handshakes
        self.sessions: list[ScriptedRealtimeSession] = []
        self.handshakes: list[Request] = []
        self.received: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.allows_problems = False  # the test checks `problems` itself
        self._server: Server | None = None
        self._more = asyncio.Event()

    async def __aenter__(self) -> RealtimeServer:
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
        if kind is None and not self.allows_problems:
            assert not self.problems, self.problems

    @property
    def url(self) -> str:
        assert self._server is not None
        port = next(iter(self._server.sockets)).getsockname()[1]
        return f"ws://127.0.0.1:{port}/v1/realtime"

    # -- For tests to check

    @property
    def session(self) -> ScriptedRealtimeSession:
        """The newest session."""
        return self.sessions[-1]

    def got(self, kind: str) -> list[dict[str, Any]]:
        """The events of this type that clients sent, in all sessions."""
        return [event for event in self.received if event.get("type") == kind]

    def gave(self, kind: str) -> list[dict[str, Any]]:
        """The events of this type that the server sent, in all sessions."""
        return [event for event in self.sent if event.get("type") == kind]

    async def until(self, holds: Callable[[], object], limit_s: float = WAIT_S) -> None:
        """Wait until `holds()` is true, for at most `limit_s` seconds. `holds()` is checked after every event in either
        direction."""
        async with asyncio.timeout(limit_s):
            while not holds():
                self._more.clear()
                await self._more.wait()

    # -- For the sessions

    def next_response(self, items: list[dict[str, Any]]) -> list[ScriptPart]:
        if self._script is not None:
            return parts_of(self._script(items))
        return parts_of(self._queue.pop(0)) if self._queue else [self.otherwise]

    def fault_of(self, kind: str, *whats: str) -> ProtocolFault | None:
        """The fault that the next event of type `kind` must show; None if the event goes right. Each call uses up one
        of the fault's `times`. Only faults whose `what` is in `whats` are considered."""
        for place, fault in enumerate(self.faults):
            if fault.kind == kind and fault.what in whats and fault.times > 0:
                left = fault.times - 1
                self.faults[place : place + 1] = (
                    [ProtocolFault(fault.what, kind, left, fault.ms, fault.code)] if left else []
                )
                return fault
        return None

    def note(self, event: dict[str, Any], is_sent: bool) -> None:
        (self.sent if is_sent else self.received).append(event)
        self._more.set()

    # -- Inside

    def _check_handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        self.handshakes.append(request)
        if self.refuses:
            return connection.respond(HTTPStatus(self.refuses.pop(0)), "refused\n")
        return None

    async def _serve(self, connection: ServerConnection) -> None:
        session = ScriptedRealtimeSession(self, connection, len(self.sessions) + 1)
        self.sessions.append(session)
        await session.run()
