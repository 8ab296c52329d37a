"""A vendor's WebSocket service on a local port. Subclasses speak one protocol, strictly.

Rule: a message that the protocol doesn't allow is a problem, and the end of the `async with` block raises
AssertionError for it.
"""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from tests.limits import WAIT_S

_SILENT = logging.Logger("tests.plugins", logging.CRITICAL + 1)


class VendorSocket:
    """One service. `refuses` are HTTP statuses for the next handshakes."""

    path = "/"
    key_header = "authorization"
    key = "Token secret-key"

    def __init__(self) -> None:
        self.refuses: list[int] = []
        self.problems: list[str] = []
        self.requests: list[Request] = []
        self.received: list[dict[str, Any]] = []  # every message in JSON
        self.sent: list[dict[str, Any]] = []
        self.open = 0  # connections that are open now
        self.closed = asyncio.Event()  # a client has closed its connection
        self._more = asyncio.Event()
        self._server: Server | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(next(iter(self._server.sockets)).getsockname()[1])

    @property
    def query(self) -> dict[str, str]:
        """The query of the newest handshake."""
        return dict(parse_qsl(urlsplit(self.requests[-1].path).query))

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._check,
            compression=None,
            ping_interval=None,
            logger=_SILENT,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()
        assert not self.problems, self.problems

    async def until(self, is_so: Any) -> None:
        """Wait until this is so."""
        async with asyncio.timeout(WAIT_S):
            while not is_so():
                self._more.clear()
                await self._more.wait()

    def noted(self) -> None:
        """Something has happened that a test may wait for."""
        self._more.set()

    def check_request(self, request: Request) -> str:
        """What is wrong with the query of a handshake; empty if it is right."""
        return ""

    async def talk(self, socket: ServerConnection) -> None:
        """Speak the protocol on this connection."""
        raise NotImplementedError

    def _check(self, socket: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        if self.refuses:
            return socket.respond(HTTPStatus(self.refuses.pop(0)), "refused\n")
        if not urlsplit(request.path).path.startswith(self.path):
            return socket.respond(HTTPStatus.NOT_FOUND, "no such path\n")
        if request.headers.get(self.key_header) != self.key:
            return socket.respond(HTTPStatus.UNAUTHORIZED, "no key\n")
        if problem := self.check_request(request):
            self.problems.append(problem)
            return socket.respond(HTTPStatus.BAD_REQUEST, "bad request\n")
        return None

    async def _serve(self, socket: ServerConnection) -> None:
        self.open += 1
        try:
            await self.talk(socket)
        except ConnectionClosed:
            pass
        except AssertionError as problem:
            self.problems.append(str(problem) or repr(problem))
            await socket.close(1008)
        finally:
            self.open -= 1
            self.closed.set()
            self.noted()
