"""The routes of calls over WebRTC: `POST /v1/realtime/calls` takes an offer and returns the answer.

Rule: a call that can't be made gets the error of the protocol, and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from duologue.lines.webrtc.offers import OfferRefused

from ..app import Server
from ..caller_address import caller_address, read_networks
from ..credentials import Admission, header, is_own_page
from ..served_conversation import new_id
from ..webrtc_peers import new_peer, why_no_webrtc
from .call_requests import BODY_BYTES_MAX, CallRequest, read_call
from .client_secrets import ClientSecrets
from .peer_call import PeerCall
from .refusal import LIMITED, SERVER, EventRefused, unsupported
from .session_config import update
from .socket import RealtimeSocket, presented_key

LOG = logging.getLogger("duologue.realtime")
HEARD_HZ = 16_000


class CallRefused(Exception):
    """A status and an error."""

    def __init__(self, status: int, why: EventRefused) -> None:
        super().__init__(why.message)
        self.status = status
        self.why = why


@dataclass
class _OpenCall:
    carrier: PeerCall
    user_key: str  # with which it was made
    serving: asyncio.Task[None] | None = None


class CallsRoute:
    """Answers the requests about calls over WebRTC."""

    def __init__(self, server: Server, keys: ClientSecrets) -> None:
        self._server = server
        self._keys = keys
        self._proxies = read_networks(server.settings.trusted_proxies)
        self._by_address: Counter[str] = Counter()
        self._open: dict[str, _OpenCall] = {}

    async def make(self, request: Request) -> Response:
        """Begin a call."""
        try:
            answer, call_id = await self._make(request)
        except CallRefused as refused:
            body = {"error": refused.why.as_error(None)}
            return _shared(request, self._server, JSONResponse(body, status_code=refused.status))
        headers = {"location": f"/v1/realtime/calls/{call_id}"}
        return _shared(
            request, self._server, Response(answer, status_code=201, media_type="application/sdp", headers=headers)
        )

    async def hang_up(self, request: Request) -> Response:
        """End a call. Only the key that made it may."""
        scope = dict(request.scope)
        call = self._open.get(request.path_params["call_id"])
        if call is None or presented_key(scope) != call.user_key or not is_own_page(scope, self._server.settings):
            body = {"error": EventRefused("call_not_found", "This call doesn't exist, or isn't yours.").as_error(None)}
            return _shared(request, self._server, JSONResponse(body, status_code=404))
        call.carrier.hang_up()
        return _shared(request, self._server, Response(status_code=200))

    async def tell_ice_servers(self, request: Request) -> Response:
        """The STUN and TURN servers for a client, with credentials that end."""
        try:
            await self._admit(dict(request.scope), caller_address(dict(request.scope), self._proxies))
        except CallRefused as refused:
            body = {"error": refused.why.as_error(None)}
            return _shared(request, self._server, JSONResponse(body, status_code=refused.status))
        servers = self._server.settings.webrtc.ice_servers.as_json(time.time())
        answer = JSONResponse({"iceServers": servers}, headers={"cache-control": "no-store"})
        return _shared(request, self._server, answer)

    async def preflight(self, request: Request) -> Response:
        """A browser asks whether a page of another origin may send a request."""
        is_own = is_own_page(dict(request.scope), self._server.settings)
        return _shared(request, self._server, Response(status_code=204 if is_own else 403))

    async def _make(self, request: Request) -> tuple[str, str]:
        scope = dict(request.scope)
        address = caller_address(scope, self._proxies)
        admission = await self._admit(scope, address)
        given = await _read(request)
        self._by_address[address] += 1
        try:
            return await self._answer(scope, admission, given, address)
        except BaseException:
            self._leave(address)
            raise

    def _leave(self, address: str) -> None:
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    async def _admit(self, scope: dict[str, Any], address: str) -> Admission:
        """Who calls. Raises CallRefused."""
        server = self._server
        if not is_own_page(scope, server.settings):
            raise CallRefused(403, EventRefused("invalid_origin", "This page may not use this server: see --origin."))
        presented = presented_key(scope)
        admission = self._keys.admit(presented, scope)
        if admission is None:
            await server.note_wrong(scope, bool(presented))
            raise CallRefused(401, EventRefused("invalid_api_key", "The key is missing, wrong or over."))
        if (why := why_no_webrtc(server.settings.webrtc)) is not None:
            raise CallRefused(501, unsupported("/v1/realtime/calls", why))
        if server.conversations.is_draining:
            why_stopping = EventRefused("server_stopping", "The server is stopping: connect again.", None, SERVER)
            raise CallRefused(503, why_stopping)
        if self._by_address[address] >= server.settings.limits.sockets_per_address_max:
            server.conversations.note_refused("address")
            raise CallRefused(
                429, EventRefused("rate_limit_exceeded", "Your address has too many calls.", None, LIMITED)
            )
        return admission

    async def _answer(
        self, scope: dict[str, Any], admission: Admission, given: CallRequest, address: str
    ) -> tuple[str, str]:
        server, presented = self._server, presented_key(scope)
        try:
            config = self._keys.config_of(presented)
            config = update(config, given.session) if given.session is not None else config
            carrier = PeerCall(HEARD_HZ)
            carrier.peer = new_peer(carrier, carrier, server.settings.webrtc)
            answer = await carrier.peer.answer(given.sdp)
        except OfferRefused as why:
            raise CallRefused(400, EventRefused(why.code, f"{why}.", "sdp")) from None
        except EventRefused as why:
            raise CallRefused(400, why) from None
        socket = RealtimeSocket(server.conversations, server.settings, carrier.send, scope, admission, address, carrier)
        call_id = f"rtc_{new_id()}"
        query = {name: value for name, value in Request(scope).query_params.items() if name == "model"}
        self._open[call_id] = call = _OpenCall(carrier, presented)
        call.serving = asyncio.get_running_loop().create_task(
            self._serve(call_id, socket, config, query, address), name="realtime call"
        )
        return answer, call_id

    async def _serve(
        self, call_id: str, socket: RealtimeSocket, config: Any, query: dict[str, str], address: str
    ) -> None:
        call = self._open[call_id]
        began_s = time.monotonic()
        try:
            await socket.serve(call.carrier.receive, config, query)
        finally:
            await call.carrier.close()
            self._leave(address)
            del self._open[call_id]
            LOG.info("a call over WebRTC has ended after %.0f s", time.monotonic() - began_s)


async def _read(request: Request) -> CallRequest:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > BODY_BYTES_MAX:
            raise CallRefused(413, EventRefused("invalid_offer", "The request is too large."))
    try:
        return read_call(request.headers.get("content-type", ""), bytes(data))
    except EventRefused as why:
        raise CallRefused(400, why) from None


def _shared(request: Request, server: Server, response: Response) -> Response:
    """The response, which a page of another origin may read if the operator allowed that origin."""
    scope = dict(request.scope)
    origin = header(scope, b"origin")
    if origin and is_own_page(scope, server.settings):
        response.headers["access-control-allow-origin"] = origin
        response.headers["access-control-allow-methods"] = "GET, POST"
        asked = header(scope, b"access-control-request-headers")  # clients send headers of their own
        response.headers["access-control-allow-headers"] = asked or "authorization, content-type"
        response.headers["access-control-expose-headers"] = "location"
        response.headers["vary"] = "origin"
    return response
