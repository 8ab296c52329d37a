"""The routes for calls over WebRTC: `POST /v1/realtime/calls` takes an SDP offer and returns the SDP answer.

Rule: if a call can't be made, the response is an error in the protocol's format, and everything that was opened for the
call is closed again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from duologue.lines.webrtc.offers import OfferRefused

from ..app import GivenAway
from ..protocols.gate import Admitted, EntryRefused, ProtocolGate, read_body
from ..served_conversation import new_id
from ..webrtc_peers import new_peer
from .call_requests import BODY_BYTES_MAX, CallRequest, read_call
from .peer_call import PeerCall
from .refusal import EventRefused
from .session_config import SessionConfig
from .session_fields import update
from .socket import RealtimeSocket, presented_key

LOG = logging.getLogger("duologue.realtime")
HEARD_HZ = 16_000
TOO_LARGE = EntryRefused(413, "invalid_offer", "The request is too large.")
HANG_UP_BYTES_MAX = 4_096


@dataclass
class _OpenCall:
    carrier: PeerCall
    user_key: str  # with which it was made
    serving: asyncio.Task[None] | None = None


class CallsRoute:
    """Answers the requests about calls over WebRTC."""

    def __init__(self, gate: ProtocolGate) -> None:
        self._gate = gate
        self._open: dict[str, _OpenCall] = {}

    async def make(self, request: Request) -> Response:
        """Begin a call. Raises EntryRefused."""
        admitted = await self._gate.admit_webrtc(dict(request.scope))
        body = await read_body(request, BODY_BYTES_MAX, TOO_LARGE)
        self._gate.enter(admitted.address)
        try:
            given = read_call(request.headers.get("content-type", ""), body)
            answer, call_id = await self._answer(admitted, given, request.query_params.get("model", ""))
        except BaseException as why:
            self._gate.leave(admitted.address)
            if isinstance(why, OfferRefused):
                raise EntryRefused(400, why.code, f"{why}.", "sdp") from None
            if isinstance(why, EventRefused):
                raise EntryRefused(400, why.code, why.message, why.param) from None
            raise
        headers = {"location": f"{request.url.path}/{call_id}"}
        return Response(answer, status_code=201, media_type="application/sdp", headers=headers)

    async def hang_up(self, request: Request) -> Response:
        """End a call. The request must have the same key as the request that began the call. If another process of this
        server has the call, that process gets the request."""
        call_id = request.path_params["call_id"]
        call = self._open.get(call_id)
        if call is None and await self._give_away(request, call_id):
            return GivenAway()
        if call is None or presented_key(dict(request.scope)) != call.user_key:
            raise EntryRefused(404, "call_not_found", "This call doesn't exist, or isn't yours.")
        call.carrier.hang_up()
        return Response(status_code=200)

    async def _give_away(self, request: Request, call_id: str) -> bool:
        """Pass the request on to the process that has this call. Returns whether it was passed on."""
        siblings = self._gate.server.conversations.siblings
        process = await siblings.find("", call_id)
        if process is None:
            return False
        body = await read_body(request, HANG_UP_BYTES_MAX, TOO_LARGE)
        return siblings.give_request(dict(request.scope), process, body)

    async def _answer(self, admitted: Admitted, given: CallRequest, model: str) -> tuple[str, str]:
        """Answer the SDP offer. Raises OfferRefused or EventRefused."""
        server = self._gate.server
        config = self._gate.keys.config_of(admitted.presented)
        config = update(config, given.session) if given.session is not None else config
        carrier = PeerCall(HEARD_HZ)
        carrier.peer = new_peer(carrier, carrier, server.settings.webrtc)
        answer = await carrier.peer.answer(given.sdp)
        socket = RealtimeSocket(server, admitted, carrier.send, carrier)
        call_id = f"rtc_{new_id()}"
        self._open[call_id] = call = _OpenCall(carrier, admitted.presented)
        server.conversations.siblings.note_begun(call_id, seat="")
        serving = self._serve(call_id, socket, config, model, admitted.address)
        call.serving = asyncio.get_running_loop().create_task(serving, name="realtime call")
        return answer, call_id

    async def _serve(
        self, call_id: str, socket: RealtimeSocket, config: SessionConfig, model: str, address: str
    ) -> None:
        call = self._open[call_id]
        began_s = time.monotonic()
        try:
            await socket.serve(call.carrier.receive, config, {"model": model})
        finally:
            await call.carrier.close()
            self._gate.leave(address)
            del self._open[call_id]
            self._gate.server.conversations.siblings.note_forgotten(call_id)
            LOG.info("a call over WebRTC has ended after %.0f s", time.monotonic() - began_s)
