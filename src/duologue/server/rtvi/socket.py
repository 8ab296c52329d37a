"""The WebSockets of RTVI clients: admission, limits, and the conversation behind each.

Rule: nothing that a client sends affects another conversation. When the server closes a socket, it says why: with a
fatal `error` message, and with a close code that tells the client whether to reconnect.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from duologue.lines.browser import BrowserLine
from duologue.ports.context import Context
from duologue.runtime.agent import Agent

from ..app import Server
from ..client_socket import info_of
from ..close_codes import CloseCode
from ..credentials import bearer
from ..message_limits import MessageLimits
from ..protocols.closes import BAD, REFUSED, SILENT, TOO_FAST
from ..protocols.gate import Admitted, EntryRefused, GateForm, ProtocolGate, Receive, Scope, Send
from ..realtime.client_secrets import ClientSecrets
from ..realtime.committed_audio import frames_of
from ..served_conversation import new_id
from .call import RtviCall
from .frame_outbox import FrameOutbox
from .frames import AudioOfClient, InvalidFrame, TextOfClient, read_frame
from .incoming import read_message
from .paced_player import PacedPlayer
from .refusal import MessageRefused

RATES_HZ = (8_000, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000)
NOT_READY = CloseCode(REFUSED, "no_client_ready", "The client sent no 'client-ready' in time.")
_LONG_LIVED = "The server's token doesn't belong into a URL: get a key from /rtvi/connect, or make a ticket."


def rtvi_gate(server: Server, keys: ClientSecrets) -> ProtocolGate:
    """Make the gate of this protocol. It accepts a key in a header, or in the URL of a socket."""

    def presented(scope: Scope) -> str:
        if scope["type"] != "websocket":
            return bearer(scope)
        in_url = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"))).get("token", "")
        if in_url and server.settings.needs_ticket and keys.may_make(in_url, scope):
            raise EntryRefused(401, "invalid_api_key", _LONG_LIVED)
        return in_url or bearer(scope)

    return ProtocolGate(server, keys, GateForm(presented, lambda why: {"detail": why.message}))


async def serve_socket(server: Server, admitted: Admitted, receive: Receive, send: Send) -> None:
    """Accept the socket of a client, and serve it until it is closed."""
    await send({"type": "websocket.accept"})
    await RtviSocket(server, admitted, send).serve(receive)


async def made_agent(server: Server, scope: Scope) -> tuple[Agent, Context[Any]]:
    """Make the agent for a new client, and its context."""
    info = replace(info_of(scope, server.settings), conversation=new_id(), line="rtvi")
    context: Context[Any] = Context(info)
    return await server.conversations.source.make(context), context


class RtviSocket:
    """One client's WebSocket."""

    def __init__(self, server: Server, admitted: Admitted, send: Send) -> None:
        self._server = server
        self._admitted = admitted
        limits = server.settings.limits
        self._outbox = FrameOutbox(send, limits.unread_bytes_max)
        self._limits = MessageLimits(limits, server.conversations.note_refused)
        self._line = BrowserLine()

    async def serve(self, receive: Receive) -> None:
        """Serve the socket until either side closes it."""
        server = self._server
        made = await made_agent(server, self._admitted.scope)
        line, address = self._line, self._admitted.address
        call = RtviCall(*made, server.conversations, server.settings, line, self._outbox, address=address)
        player = PacedPlayer(line, self._outbox.send_sound, call.note_words)
        line.attach(player)
        try:
            await self._outbox.write_while(self._read(receive, call))
        finally:
            player.close()
            await call.end("hung up")

    async def _read(self, receive: Receive, call: RtviCall) -> None:
        limits = self._server.settings.limits
        try:
            async with asyncio.timeout(limits.hello_s_max) as idle:
                while (event := await receive())["type"] != "websocket.disconnect":
                    if self._outbox.is_closing:
                        return
                    data = event.get("bytes")
                    given = data if data is not None else event.get("text") or ""
                    if self._limits.is_too_fast(given):
                        call.disconnect(TOO_FAST)
                        return
                    self._take(call, given)
                    if call.state.ready_id:
                        idle.reschedule(self._idle_until(call))
        except TimeoutError:
            self._limits.note_silent()
            call.disconnect(SILENT if call.state.ready_id else NOT_READY)

    def _idle_until(self, call: RtviCall) -> float | None:
        """The time at which the socket will be closed if no more messages arrive. None (no limit) after the
        conversation has begun."""
        if call.has_begun:
            return None
        return asyncio.get_running_loop().time() + self._server.settings.limits.silent_s_max

    def _take(self, call: RtviCall, data: bytes | str) -> None:
        """Process one frame from the client."""
        try:
            if isinstance(data, str):
                raise MessageRefused("A text frame came, but all frames must be binary (protobuf, pipecat.Frame).")
            frame = read_frame(data)
            if isinstance(frame, AudioOfClient):
                self._hear(call, frame)
            elif isinstance(frame, TextOfClient):
                if self._limits.is_too_much(frame.json):
                    call.disconnect(TOO_FAST)
                else:
                    call.post(read_message(frame.json))
            else:
                raise MessageRefused(f"Frames with {frame.kind} aren't accepted.")
        except InvalidFrame as why:
            self._note_bad(call, MessageRefused(f"This isn't a frame: {why}."))
        except MessageRefused as why:
            self._note_bad(call, why)

    def _note_bad(self, call: RtviCall, why: MessageRefused) -> None:
        call.post(why)
        if self._limits.is_too_bad():
            call.disconnect(BAD)

    def _hear(self, call: RtviCall, frame: AudioOfClient) -> None:
        if frame.channels != 1 or frame.rate_hz not in RATES_HZ:
            known = ", ".join(f"{rate:,}" for rate in RATES_HZ)
            raise MessageRefused(f"Sound must have one channel and one of these rates: {known} Hz.")
        if len(frame.pcm) % 2:
            raise MessageRefused("Sound must be 16-bit PCM: it has an odd number of bytes.")
        ms = -(-len(frame.pcm) * 500 // frame.rate_hz)
        if frame.pcm and call.take_sound(ms):
            self._line.rate_hz = frame.rate_hz
            for piece in frames_of(frame.pcm, frame.rate_hz):
                self._line.hear(piece.pcm)
