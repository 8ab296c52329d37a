"""The gate of one protocol: decides which sockets and requests are admitted, and writes refusals in the protocol's own
format.

Rule: for every protocol, this module checks the same things in the same way: the origin, the credentials, how many
connections the address has, and whether the server is stopping.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from duologue.core.errors import DuologueError

from ..app import Server
from ..credentials import Admission, header, is_own_page
from ..direct_messages import DIRECT_KEY
from ..message_limits import work_of
from ..realtime.client_secrets import ClientSecrets
from ..siblings import SCOPE_KEY
from ..webrtc_peers import why_no_webrtc
from .closes import REFUSED

BODY_WORK_MAX = 4 << 20  # about 40,000 values of JSON
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


class EntryRefused(DuologueError):
    """A socket or a request is refused. The exception has the HTTP status, an error code for programs, one sentence for
    people, and the name of the wrong field (None if no field is wrong)."""

    def __init__(self, status: int, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param


class Admitted(NamedTuple):
    """A client that has passed the gate."""

    scope: Scope
    address: str
    presented: str  # its key, ticket or token
    admission: Admission


@dataclass(frozen=True, slots=True)
class GateForm:
    """What differs between the gates of different protocols."""

    presented: Callable[[Scope], str]  # the key of a socket or a request; raises EntryRefused
    as_json: Callable[[EntryRefused], dict[str, Any]]  # the body of a refusal


class ProtocolGate:
    """The gate of one protocol."""

    def __init__(self, server: Server, keys: ClientSecrets, form: GateForm) -> None:
        self.server = server
        self.keys = keys
        self._form = form

    # -- Admission

    async def admit(self, scope: Scope) -> Admitted:
        """Check the origin and the credentials of this socket or request. Returns who the client is. Raises
        EntryRefused."""
        access = self.server.access
        self._check_origin(scope)
        presented = self._form.presented(scope)
        admission = self.keys.admit(presented, scope)
        if admission is None:
            if presented:
                await access.refuse_late(scope)
            raise EntryRefused(401, "invalid_api_key", "The key is missing, wrong or expired.")
        if self.server.conversations.is_draining:
            raise EntryRefused(503, "server_stopping", "The server is stopping: connect again.")
        return Admitted(scope, access.address_of(scope), presented, admission)

    async def admit_webrtc(self, scope: Scope) -> Admitted:
        """Like `admit`, for a request that needs WebRTC: also raises EntryRefused if this server doesn't offer
        WebRTC."""
        admitted = await self.admit(scope)
        if (why := why_no_webrtc(self.server.settings.webrtc)) is not None:
            raise EntryRefused(501, "unsupported_parameter", f"This server has no WebRTC: {why}.")
        return admitted

    def enter(self, address: str) -> None:
        """Count one more connection from this address, until `leave` is called. Raises EntryRefused if there are too
        many."""
        if not self.server.access.enter(address):
            raise EntryRefused(429, "rate_limit_exceeded", "Your address has too many connections.")

    def leave(self, address: str) -> None:
        self.server.access.leave(address)

    @contextmanager
    def entered(self, scope: Scope) -> Iterator[None]:
        """Count a socket as long as the `with` block runs. Raises EntryRefused if the address has too many
        connections."""
        address = self.server.access.address_of(scope)
        if self.server.access.is_too_often(scope):
            raise EntryRefused(429, "rate_limit_exceeded", "Your address opens connections too often.")
        self.enter(address)
        try:
            yield
        finally:
            self.leave(address)

    def _check_origin(self, scope: Scope) -> None:
        if not is_own_page(scope, self.server.settings):
            raise EntryRefused(403, "invalid_origin", "This page's origin isn't allowed: see --origin.")

    # -- Sockets and requests

    async def refuse_socket(self, scope: Scope, send: Send, why: EntryRefused) -> None:
        """Answer the WebSocket handshake with an HTTP status that refuses it."""
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": REFUSED, "reason": why.message})
            return
        body = json.dumps(self._form.as_json(why)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "websocket.http.response.start", "status": why.status, "headers": headers})
        await send({"type": "websocket.http.response.body", "body": body})

    def route(self, path: str, answer: Callable[[Request], Awaitable[Response]], methods: Sequence[str]) -> Route:
        """Make the route for a request. `answer` makes the response, and may raise EntryRefused. The response has
        headers that let pages of allowed origins read it."""

        async def respond(request: Request) -> Response:
            response: Response
            try:
                self._check_origin(dict(request.scope))
                response = Response(status_code=204) if request.method == "OPTIONS" else await answer(request)
            except EntryRefused as why:
                response = JSONResponse(self._form.as_json(why), status_code=why.status)
                if why.code == "invalid_origin":
                    return response
            response.headers.update(cors_headers(dict(request.scope), methods))
            return response

        return Route(path, respond, methods=[*methods, "OPTIONS"])


class SocketGate:
    """The ASGI endpoint of a protocol's sockets. `serve` is called for each socket that is admitted. It must accept the
    socket, or raise EntryRefused."""

    def __init__(self, gate: ProtocolGate, serve: Callable[[Admitted, Receive, Send], Awaitable[None]]) -> None:
        self._gate = gate
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        if (connection := scope.get(SCOPE_KEY)) is not None:
            connection.settle()  # the conversation stays in the process that the client has reached
        try:
            with self._gate.entered(scope):
                admitted = await self._gate.admit(scope)
                if (direct := scope.get(DIRECT_KEY)) is not None:
                    direct.admit()
                await self._serve(admitted, receive, send)
        except EntryRefused as why:
            await self._gate.refuse_socket(scope, send, why)


def cors_headers(scope: Scope, methods: Sequence[str]) -> dict[str, str]:
    """Headers that let a page send this request and read the response, although the page comes from another origin."""
    origin = header(scope, b"origin")
    if not origin:
        return {}
    asked = header(scope, b"access-control-request-headers")  # clients send headers of their own
    return {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": ", ".join(methods),
        "access-control-allow-headers": asked or "authorization, content-type",
        "access-control-expose-headers": "location",
        "vary": "origin",
    }


async def read_body(request: Request, bytes_max: int, too_large: EntryRefused) -> bytes:
    """Read the body of a request. Raises the exception `too_large` if the body has more than `bytes_max` bytes, or if
    it is JSON that would take too long to parse."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > bytes_max:
            raise too_large
    if work_of(data.decode("latin-1")) > BODY_WORK_MAX:
        raise too_large
    return bytes(data)
