"""The routes of the Realtime protocol: the socket, calls over WebRTC, and the keys for clients.

Rule: an error of a request has the same form as an error of the socket.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from ..app import Server
from ..credentials import is_own_page
from ..siblings import ALONE
from .calls_route import CallsRoute
from .client_secrets import ClientSecrets
from .fields import read_object
from .refusal import EventRefused
from .socket import RealtimeGate, presented_key

BODY_BYTES_MAX = 1 << 18
SOCKETS = ("/v1/realtime", "/openai/v1/realtime", "/openai/realtime")  # the last two are Azure's


def realtime_routes(server: Server) -> Sequence[BaseRoute]:
    """The routes for clients of the Realtime protocol of this server."""
    conversations, settings = server.conversations, server.settings
    keys = ClientSecrets(settings, conversations.agent_name, conversations.siblings is ALONE)
    gate = RealtimeGate(conversations, settings, keys, server.wrong_credentials)
    secrets = ClientSecretsRoute(server, keys)
    calls = CallsRoute(server, keys)
    return [
        *(WebSocketRoute(path, gate) for path in SOCKETS),
        Route("/v1/realtime/client_secrets", secrets.answer, methods=["POST"]),
        Route("/openai/v1/realtime/client_secrets", secrets.answer, methods=["POST"]),
        Route("/v1/realtime/sessions", _refuse_sessions, methods=["POST"]),
        Route("/v1/realtime/calls", calls.make, methods=["POST"]),
        Route("/v1/realtime/calls", calls.preflight, methods=["OPTIONS"]),
        Route("/v1/realtime/ice_servers", calls.tell_ice_servers, methods=["GET"]),
        Route("/v1/realtime/ice_servers", calls.preflight, methods=["OPTIONS"]),
        Route("/v1/realtime/calls/{call_id}/hangup", calls.hang_up, methods=["POST"]),
    ]


class ClientSecretsRoute:
    """Answers `POST /v1/realtime/client_secrets`."""

    def __init__(self, server: Server, keys: ClientSecrets) -> None:
        self._server = server
        self._keys = keys

    async def answer(self, request: Request) -> Response:
        scope = dict(request.scope)
        if not is_own_page(scope, self._server.settings):
            return _error(403, EventRefused("invalid_origin", "This page may not use this server: see --origin."))
        presented = presented_key(scope)
        if not self._keys.may_make(presented, scope):
            if self._keys.admit(presented, scope) is not None:
                why = EventRefused("insufficient_permissions", "A short-lived key or a ticket can't make keys.")
                return _error(403, why)
            await self._server.note_wrong(scope, bool(presented))
            return _error(401, EventRefused("invalid_api_key", "The key is missing, wrong or over."))
        try:
            body = await _body(request)
            made = self._keys.make(body, scope, time.time())
        except EventRefused as why:
            return _error(400, why)
        session = made.config.as_json("sess_new")
        return JSONResponse({"value": made.value, "expires_at": made.expires_at, "session": session})


async def _body(request: Request) -> dict[str, object]:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > BODY_BYTES_MAX:
            raise EventRefused("invalid_json", "The request is too large.")
    try:
        given = json.loads(bytes(data) or b"{}")
    except (ValueError, RecursionError):
        raise EventRefused("invalid_json", "The request isn't JSON.") from None
    return read_object(given, "body")


async def _refuse_sessions(_: Request) -> Response:
    message = "'/v1/realtime/sessions' belongs to the beta protocol: use '/v1/realtime/client_secrets'."
    return _error(400, EventRefused("beta_api_shape_disabled", message))


def _error(status: int, why: EventRefused) -> Response:
    return JSONResponse({"error": why.as_error(None)}, status_code=status)
