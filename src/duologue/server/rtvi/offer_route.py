"""The signalling of RTVI clients over WebRTC: `POST` takes an offer and returns the answer, `PATCH` takes addresses.

The addresses of a client aren't needed: it knows the server's and reaches it first. Rule: a call that can't be made
gets a status and a reason, and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from duologue.lines.webrtc.offers import OFFER_BYTES_MAX, OfferRefused
from duologue.ports.context import Context

from ..app import Server
from ..caller_address import caller_address, read_networks
from ..client_socket import info_of
from ..credentials import bearer, is_own_page
from ..realtime.client_secrets import ClientSecrets
from ..served_conversation import new_id
from ..webrtc_peers import new_peer, why_no_webrtc
from .peer_call import RtviPeerCall

LOG = logging.getLogger("duologue.rtvi")
BODY_BYTES_MAX = 2 * OFFER_BYTES_MAX


class SignallingRefused(Exception):
    """A status and a reason."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


@dataclass(frozen=True, slots=True)
class OpenPeer:
    """A client that is connected, and the key with which it came."""

    call: RtviPeerCall
    key: str


class OfferRoute:
    """Answers the requests about peer connections of RTVI clients."""

    def __init__(self, server: Server, keys: ClientSecrets) -> None:
        self._server = server
        self._keys = keys
        self._proxies = read_networks(server.settings.trusted_proxies)
        self._by_address: Counter[str] = Counter()
        self._open: dict[str, OpenPeer] = {}

    async def answer(self, request: Request) -> Response:
        if not is_own_page(dict(request.scope), self._server.settings):
            return JSONResponse({"detail": "This page may not use this server: see --origin."}, status_code=403)
        allowed = cors_headers(request)
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=allowed)
        try:
            await self._admit(request)
            given = await _read(request)
            body = await self._take_offer(request, given) if request.method == "POST" else self._take_addresses(given)
        except SignallingRefused as refused:
            return JSONResponse({"detail": refused.why}, status_code=refused.status, headers=allowed)
        return JSONResponse(body, headers=allowed)

    async def _admit(self, request: Request) -> None:
        server, scope = self._server, dict(request.scope)
        presented = bearer(scope)
        if self._keys.admit(presented, scope) is None:
            await server.note_wrong(scope, bool(presented))
            raise SignallingRefused(401, "The key is missing, wrong or over.")
        if (why := why_no_webrtc(server.settings.webrtc)) is not None:
            raise SignallingRefused(501, f"This server has no WebRTC: {why}.")
        if server.conversations.is_draining:
            raise SignallingRefused(503, "The server is stopping: connect again.")

    def _find(self, given: dict[str, Any], key: str) -> OpenPeer | None:
        found = self._open.get(str(given.get("pc_id")))
        return found if found is not None and (found.key == key or not self._server.settings.needs_ticket) else None

    def _take_addresses(self, given: dict[str, Any]) -> dict[str, str]:
        if str(given.get("pc_id")) not in self._open:
            raise SignallingRefused(404, "This connection doesn't exist.")
        return {"status": "success"}

    async def _take_offer(self, request: Request, given: dict[str, Any]) -> dict[str, str]:
        sdp = given.get("sdp")
        if not isinstance(sdp, str) or given.get("type") != "offer":
            raise SignallingRefused(400, "The request needs 'sdp', and 'type' must be 'offer'.")
        known = self._find(given, bearer(dict(request.scope)))
        if known is None and given.get("restart_pc") is True:
            raise SignallingRefused(404, "This connection doesn't exist any more: connect again.")
        if known is not None and given.get("restart_pc") is not True:
            raise SignallingRefused(400, "A connection isn't changed: begin another one with 'restart_pc'.")
        try:
            if known is not None:
                return await self._connect(str(given["pc_id"]), known.call, sdp)
            return await self._begin(request, sdp)
        except OfferRefused as why:
            raise SignallingRefused(400, f"{why}.") from None

    async def _begin(self, request: Request, sdp: str) -> dict[str, str]:
        server, scope = self._server, dict(request.scope)
        address = caller_address(scope, self._proxies)
        if self._by_address[address] >= server.settings.limits.sockets_per_address_max:
            server.conversations.note_refused("address")
            raise SignallingRefused(429, "Your address has too many calls.")
        pc_id = new_id()
        info = replace(info_of(scope, server.settings), conversation=new_id(), line="rtvi")
        context: Context[Any] = Context(info)
        agent = await server.conversations.source.make(context)
        self._by_address[address] += 1
        call = RtviPeerCall(
            agent, context, server.conversations, server.settings, address, lambda: self._forget(pc_id, address)
        )
        self._open[pc_id] = OpenPeer(call, bearer(scope))
        try:
            return await self._connect(pc_id, call, sdp)
        except BaseException:
            await asyncio.shield(call.end("the offer was refused"))
            raise

    def _forget(self, pc_id: str, address: str) -> None:
        self._open.pop(pc_id, None)
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    async def _connect(self, pc_id: str, call: RtviPeerCall, sdp: str) -> dict[str, str]:
        peer = new_peer(call, call, self._server.settings.webrtc)
        return {"sdp": await call.use(peer, sdp), "type": "answer", "pc_id": pc_id}


def cors_headers(request: Request) -> dict[str, str]:
    """Headers that let a page of another allowed origin read the answer."""
    origin = request.headers.get("origin")
    if origin is None:
        return {}
    return {
        "access-control-allow-origin": origin,
        "access-control-allow-headers": "authorization, content-type",
        "access-control-allow-methods": "POST, PATCH",
        "vary": "origin",
    }


async def _read(request: Request) -> dict[str, Any]:
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > BODY_BYTES_MAX:
            raise SignallingRefused(413, "The request is too large.")
    try:
        given = json.loads(bytes(data))
    except (ValueError, RecursionError):
        raise SignallingRefused(400, "The request isn't JSON.") from None
    if not isinstance(given, dict):
        raise SignallingRefused(400, "The request isn't a JSON object.")
    return given
