"""The routes of the Realtime protocol: the socket, calls over WebRTC, and the keys for clients.

Rule: errors have the same JSON form in responses to requests and on the socket.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, WebSocketRoute

from ..app import Server
from ..protocols.gate import EntryRefused, ProtocolGate, SocketGate, read_body
from ..protocols.ice_servers_route import ice_servers_route
from .calls_route import CallsRoute
from .client_secrets import ClientSecrets
from .fields import read_object
from .refusal import EventRefused
from .socket import presented_key, realtime_gate, serve_socket

BODY_BYTES_MAX = 1 << 18
ROOTS = ("", "/openai")  # the second one is Azure's
SOCKETS = (*(f"{root}/v1/realtime" for root in ROOTS), "/openai/realtime")  # the last one is of Azure's older API


def realtime_routes(server: Server) -> Sequence[BaseRoute]:
    """The routes for clients of the Realtime protocol of this server."""
    conversations = server.conversations
    keys = ClientSecrets(server.settings, conversations.agent_name, conversations.siblings)
    gate = realtime_gate(server, keys)
    sockets = SocketGate(gate, partial(serve_socket, gate))
    make_key = partial(_make_key, gate)
    calls = CallsRoute(gate)
    return [
        *(WebSocketRoute(path, sockets) for path in SOCKETS),
        *(gate.route(f"{root}/v1/realtime/client_secrets", make_key, ["POST"]) for root in ROOTS),
        *(gate.route(path, partial(_refuse, why), ["POST"]) for path, why in NOT_SERVED.items()),
        *(gate.route(f"{root}/v1/realtime/calls", calls.make, ["POST"]) for root in ROOTS),
        *(gate.route(f"{root}/v1/realtime/calls/{{call_id}}/hangup", calls.hang_up, ["POST"]) for root in ROOTS),
        ice_servers_route("/v1/realtime/ice_servers", gate),
    ]


async def _make_key(gate: ProtocolGate, request: Request) -> Response:
    """Answers `POST /v1/realtime/client_secrets`."""
    scope = dict(request.scope)
    if not gate.keys.may_make(presented_key(scope), scope):
        await gate.admit(scope)
        raise EntryRefused(403, "insufficient_permissions", "A short-lived key or a ticket can't make keys.")
    too_large = EntryRefused(400, "invalid_json", "The request is too large.")
    body = await read_body(request, BODY_BYTES_MAX, too_large)
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise EntryRefused(400, "invalid_json", "The request isn't JSON.") from None
    try:
        made = gate.keys.make(read_object(given, "body"), scope, time.time())
    except EventRefused as why:
        raise EntryRefused(400, why.code, why.message, why.param) from None
    session = made.config.as_json("sess_new")
    return JSONResponse({"value": made.value, "expires_at": made.expires_at, "session": session})


async def _refuse(why: EntryRefused, _: Request) -> Response:
    raise EntryRefused(why.status, why.code, why.message)


def _renamed(old: str, new: str) -> EntryRefused:
    return EntryRefused(400, "beta_api_shape_disabled", f"'{old}' belongs to the beta protocol: use '{new}'.")


def _no_sip(what: str) -> EntryRefused:
    why = "is for calls over SIP, which this server doesn't support. Its telephone calls come from a carrier's stream."
    return EntryRefused(400, "unsupported_parameter", f"'{what}' {why}")


_CALL = "/v1/realtime/calls/{call_id}"
NOT_SERVED = {
    "/v1/realtime": _renamed("POST /v1/realtime", "POST /v1/realtime/calls"),
    "/v1/realtime/sessions": _renamed("/v1/realtime/sessions", "/v1/realtime/client_secrets"),
    "/v1/realtime/transcription_sessions": _renamed(
        "/v1/realtime/transcription_sessions", "/v1/realtime/client_secrets"
    ),
    "/v1/realtime/translations/client_secrets": EntryRefused(
        400,
        "unsupported_parameter",
        "'translations' isn't supported by this server: use '/v1/realtime/client_secrets'.",
    ),
    **{f"{_CALL}/{what}": _no_sip(what) for what in ("accept", "reject", "refer")},
}
"""Requests of the protocol and of its beta that are refused by their name, and why."""
