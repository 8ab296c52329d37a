"""The signalling for RTVI clients that use WebRTC: `POST` takes an SDP offer and returns the SDP answer, and `PATCH`
takes network addresses (ICE candidates) of the client.

The client's addresses are ignored, because the client knows the server's addresses and connects to one of these first.
Rule: if a connection can't be made, the response has a status and a reason, and everything that was opened for it is
closed again.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from duologue.lines.webrtc.offers import OFFER_BYTES_MAX, OfferRefused

from ..app import GivenAway
from ..protocols.gate import Admitted, EntryRefused, ProtocolGate, read_body
from ..served_conversation import new_id
from ..webrtc_peers import new_peer
from .peer_call import RtviPeerCall
from .socket import made_agent

INVALID, NOT_FOUND = "invalid_request", "not_found"
BODY_BYTES_MAX = 2 * OFFER_BYTES_MAX


@dataclass(frozen=True, slots=True)
class OpenPeer:
    """A client that is connected over WebRTC, and the key that it presented."""

    call: RtviPeerCall
    key: str


class OfferRoute:
    """Answers the requests about peer connections of RTVI clients."""

    def __init__(self, gate: ProtocolGate) -> None:
        self._gate = gate
        self._open: dict[str, OpenPeer] = {}

    async def answer(self, request: Request) -> Response:
        """Handle a request with an SDP offer or with addresses. Raises EntryRefused."""
        admitted = await self._gate.admit_webrtc(dict(request.scope))
        data = await read_body(request, BODY_BYTES_MAX, EntryRefused(413, INVALID, "The request is too large."))
        given = _object_in(data)
        if await self._give_away(request, given.get("pc_id"), data):
            return GivenAway()
        if request.method == "POST":
            return JSONResponse(await self._take_offer(admitted, given))
        if str(given.get("pc_id")) not in self._open:
            raise EntryRefused(404, NOT_FOUND, "This connection doesn't exist.")
        return JSONResponse({"status": "success"})

    async def _give_away(self, request: Request, pc_id: object, data: bytes) -> bool:
        """Pass the request on to the other process of this server that has this connection. Returns whether it was
        passed on."""
        siblings = self._gate.server.conversations.siblings
        if not isinstance(pc_id, str) or pc_id in self._open:
            return False
        process = await siblings.find("", pc_id)
        return process is not None and siblings.give_request(dict(request.scope), process, data)

    def _find(self, given: dict[str, Any], key: str) -> OpenPeer | None:
        found = self._open.get(str(given.get("pc_id")))
        is_open_to_all = not self._gate.server.settings.needs_ticket
        return found if found is not None and (found.key == key or is_open_to_all) else None

    async def _take_offer(self, admitted: Admitted, given: dict[str, Any]) -> dict[str, str]:
        sdp = given.get("sdp")
        if not isinstance(sdp, str) or given.get("type") != "offer":
            raise EntryRefused(400, INVALID, "The request needs 'sdp', and 'type' must be 'offer'.")
        known = self._find(given, admitted.presented)
        if known is None and given.get("restart_pc") is True:
            raise EntryRefused(404, NOT_FOUND, "This connection doesn't exist any more: connect again.")
        if known is not None and given.get("restart_pc") is not True:
            raise EntryRefused(400, INVALID, "A connection can't be changed: begin another one with 'restart_pc'.")
        try:
            if known is not None:
                return await self._connect(str(given["pc_id"]), known.call, sdp)
            return await self._begin(admitted, sdp)
        except OfferRefused as why:
            raise EntryRefused(400, INVALID, f"{why}.") from None

    async def _begin(self, admitted: Admitted, sdp: str) -> dict[str, str]:
        server, address, pc_id = self._gate.server, admitted.address, new_id()
        made = await made_agent(server, admitted.scope)
        self._gate.enter(address)
        call = RtviPeerCall(*made, server.conversations, server.settings, address, lambda: self._forget(pc_id, address))
        self._open[pc_id] = OpenPeer(call, admitted.presented)
        server.conversations.siblings.note_begun(pc_id, seat="")
        try:
            return await self._connect(pc_id, call, sdp)
        except BaseException:
            await asyncio.shield(call.end("the offer was refused"))
            raise

    def _forget(self, pc_id: str, address: str) -> None:
        self._open.pop(pc_id, None)
        self._gate.server.conversations.siblings.note_forgotten(pc_id)
        self._gate.leave(address)

    async def _connect(self, pc_id: str, call: RtviPeerCall, sdp: str) -> dict[str, str]:
        peer = new_peer(call, call, self._gate.server.settings.webrtc)
        return {"sdp": await call.use(peer, sdp), "type": "answer", "pc_id": pc_id}


def _object_in(data: bytes) -> dict[str, Any]:
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        raise EntryRefused(400, INVALID, "The request isn't JSON.") from None
    if not isinstance(given, dict):
        raise EntryRefused(400, INVALID, "The request isn't a JSON object.")
    return given
