"""The route that tells a WebRTC client which STUN and TURN servers to use.

Rule: a client gets credentials that expire, never the secret from which they are made.
"""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .gate import ProtocolGate


def ice_servers_route(path: str, gate: ProtocolGate) -> Route:
    """Make the route. Its response is an `RTCConfiguration`, the JSON object that browsers use for this."""

    async def answer(request: Request) -> Response:
        await gate.admit_webrtc(dict(request.scope))
        servers = gate.server.settings.webrtc.ice_servers.as_json(time.time())
        return JSONResponse({"iceServers": servers}, headers={"cache-control": "no-store"})

    return gate.route(path, answer, ["GET"])
