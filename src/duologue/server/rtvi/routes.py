"""The routes of the RTVI protocol: the WebSocket, the request with which a page gets the WebSocket's URL, and the
signalling for WebRTC.

Rule: a page gets a key that expires soon, and never the server's token.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, WebSocketRoute

from ..app import Server
from ..credentials import header
from ..protocols.gate import Admitted, ProtocolGate, SocketGate
from ..protocols.ice_servers_route import ice_servers_route
from ..realtime.client_secrets import ClientSecrets
from .offer_route import OfferRoute
from .socket import rtvi_gate, serve_socket

SOCKET = "/rtvi"
CONNECT = "/rtvi/connect"
KEY_S = 60  # how long the key of a page is valid: enough to open its socket


def rtvi_routes(server: Server) -> Sequence[BaseRoute]:
    """The routes for RTVI clients of this server."""
    gate = rtvi_gate(
        server, ClientSecrets(server.settings, server.conversations.agent_name, server.conversations.siblings)
    )
    return [
        WebSocketRoute(SOCKET, SocketGate(gate, partial(serve_socket, server))),
        gate.route(CONNECT, partial(_tell_socket, gate), ["POST"]),
        gate.route("/rtvi/offer", OfferRoute(gate).answer, ["POST", "PATCH"]),
        ice_servers_route("/rtvi/ice_servers", gate),
    ]


async def _tell_socket(gate: ProtocolGate, request: Request) -> Response:
    """Answers `POST /rtvi/connect` with the URL of the WebSocket, and with a key for it if the server requires one."""
    admitted = await gate.admit(dict(request.scope))
    where = {"wsUrl": _socket_url(request)}
    if gate.server.settings.needs_ticket:
        where["token"] = _token_for(gate.keys, admitted)
    return JSONResponse(where, headers={"cache-control": "no-store"})


def _token_for(keys: ClientSecrets, admitted: Admitted) -> str:
    """The key that the page must present when it opens the socket. If the request has the server's token, a new key is
    made that expires soon. If the request has a key or a ticket, this key or ticket is returned unchanged, because it
    expires soon anyway."""
    if not keys.may_make(admitted.presented, admitted.scope):
        return admitted.presented
    return keys.make({"expires_after": {"seconds": KEY_S}}, admitted.scope, time.time()).value


def _socket_url(request: Request) -> str:
    scope = dict(request.scope)
    is_secure = "https" in (header(scope, b"x-forwarded-proto"), request.url.scheme)
    return f"{'wss' if is_secure else 'ws'}://{header(scope, b'host')}{SOCKET}"
