"""The routes of the RTVI protocol: the WebSocket, the request that tells a page where it is, and WebRTC's signalling.

Rule: a page gets a key that is over soon, and never the server's token.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from ..app import Server
from ..credentials import bearer, header, is_own_page
from ..realtime.client_secrets import ClientSecrets
from .offer_route import OfferRoute, cors_headers
from .socket import RtviGate

SOCKET = "/rtvi"
CONNECT = "/rtvi/connect"
OFFER = "/rtvi/offer"
KEY_S = 60  # how long the key of a page is valid: enough to open its socket


def rtvi_routes(server: Server) -> Sequence[BaseRoute]:
    """The routes for RTVI clients of this server."""
    keys = ClientSecrets(server.settings, server.conversations.agent_name)
    gate = RtviGate(server.conversations, server.settings, keys, server.wrong_credentials)
    connect = ConnectRoute(server, keys)
    offers = OfferRoute(server, keys)
    return [
        WebSocketRoute(SOCKET, gate),
        Route(CONNECT, connect.answer, methods=["POST", "OPTIONS"]),
        Route(OFFER, offers.answer, methods=["POST", "PATCH", "OPTIONS"]),
    ]


class ConnectRoute:
    """Answers `POST /rtvi/connect`: where the socket is, and a key for it if the server wants one."""

    def __init__(self, server: Server, keys: ClientSecrets) -> None:
        self._server = server
        self._keys = keys

    async def answer(self, request: Request) -> Response:
        scope, settings = dict(request.scope), self._server.settings
        if not is_own_page(scope, settings):
            return JSONResponse({"detail": "This page may not use this server: see --origin."}, status_code=403)
        allowed = cors_headers(request)
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=allowed)
        presented = bearer(scope)
        if self._keys.admit(presented, scope) is None:
            await self._server.note_wrong(scope, bool(presented))
            return JSONResponse({"detail": "The key is missing, wrong or over."}, status_code=401, headers=allowed)
        where = {"wsUrl": _socket_url(request)}
        if settings.needs_ticket:
            where["token"] = self._token_for(presented, request)
        return JSONResponse(where, headers={**allowed, "cache-control": "no-store"})

    def _token_for(self, presented: str, request: Request) -> str:
        """What the page presents at the socket. A request with the server's token gets a key that is over soon. A key
        or a ticket is over soon already, and makes no other."""
        scope = dict(request.scope)
        if not self._keys.may_make(presented, scope):
            return presented
        return self._keys.make({"expires_after": {"seconds": KEY_S}}, scope, time.time()).value


def _socket_url(request: Request) -> str:
    scope = dict(request.scope)
    is_secure = "https" in (header(scope, b"x-forwarded-proto"), request.url.scheme)
    return f"{'wss' if is_secure else 'ws'}://{header(scope, b'host')}{SOCKET}"
