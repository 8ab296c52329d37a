"""The sockets of clients of the Realtime protocol: admission, limits, and the conversation behind each.

Rule: nothing that a client sends affects another conversation. When the server closes a socket, it says why: with an
`error` event, and with a close code that tells the client whether to reconnect.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from duologue.ports.context import CallInfo, Context

from ..app import Server
from ..client_socket import info_of
from ..close_codes import CloseCode
from ..credentials import bearer, header
from ..message_limits import MessageLimits
from ..protocols.closes import BAD, SILENT, TOO_FAST, TRY_LATER
from ..protocols.gate import Admitted, EntryRefused, GateForm, ProtocolGate, Receive, Scope, Send
from ..protocols.translated_call import begin_counted
from ..served_conversation import new_id
from .call import RealtimeCall
from .client_events import BEGINNING, ClientEvent, RefusedEvent, read_event
from .client_player import ClientPlayer
from .client_secrets import ClientSecrets
from .event_outbox import EventOutbox
from .fields import JsonObject
from .peer_call import BEGIN, PeerCall
from .refusal import INVALID, LIMITED, SERVER, EventRefused
from .session_config import SessionConfig
from .session_fields import NAME_CHARS_MAX

LOG = logging.getLogger("duologue.realtime")
SUBPROTOCOL = "realtime"
KEY_PROTOCOL = "openai-insecure-api-key."  # browsers can't send headers, so they present the key like this
KINDS = {429: LIMITED, 503: SERVER}  # the kind of an error, by the status of a refused request


def realtime_gate(server: Server, keys: ClientSecrets) -> ProtocolGate:
    """Make the gate of this protocol. It accepts keys from three places (see `presented_key`), and writes refusals as
    `error` events."""
    return ProtocolGate(server, keys, GateForm(presented_key, _as_json))


def _as_json(why: EntryRefused) -> JsonObject:
    kind = KINDS.get(why.status, INVALID)
    return {"error": EventRefused(why.code, why.message, why.param, kind).as_error(None)}


def presented_key(scope: Scope) -> str:
    """The key that a request presents: in the Authorization header, in Azure's header, or (as browsers do) in a
    WebSocket subprotocol."""
    named = bearer(scope) or header(scope, b"api-key")
    offered = [one.removeprefix(KEY_PROTOCOL) for one in scope.get("subprotocols", ()) if one.startswith(KEY_PROTOCOL)]
    return named or (offered[0] if offered else "")


async def serve_socket(gate: ProtocolGate, admitted: Admitted, receive: Receive, send: Send) -> None:
    """Accept the socket of a client, and serve it until it is closed. Raises EntryRefused."""
    query = dict(parse_qsl(admitted.scope.get("query_string", b"").decode("latin-1")))
    if "call_id" in query or query.get("intent") == "transcription":
        what = "call_id" if "call_id" in query else "intent"
        raise EntryRefused(400, "unsupported_parameter", f"'{what}' isn't supported by this server.", what)
    protocol = SUBPROTOCOL if SUBPROTOCOL in admitted.scope.get("subprotocols", ()) else None
    await send({"type": "websocket.accept", "subprotocol": protocol})
    await RealtimeSocket(gate.server, admitted, send).serve(receive, gate.keys.config_of(admitted.presented), query)


class RealtimeSocket:
    """One client's socket, or its WebRTC data channel. With a data channel, `carrier` transports the sound."""

    def __init__(self, server: Server, admitted: Admitted, send: Send, carrier: PeerCall | None = None) -> None:
        self._conversations = server.conversations
        self._settings = server.settings
        self._admitted = admitted
        self._carrier = carrier  # of sound beside the events
        limits = server.settings.limits
        self._outbox = EventOutbox(send, limits.unread_bytes_max)
        self._limits = MessageLimits(limits, server.conversations.note_refused)
        self._call: RealtimeCall | None = None

    async def serve(self, receive: Receive, config: SessionConfig, query: dict[str, str]) -> None:
        """Serve the socket until either side closes it."""
        try:
            await self._outbox.write_while(self._read(receive, config, query))
        finally:
            await self._leave()

    async def _leave(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            self._conversations.starts.uncount(call)
            await call.end("hung up")

    # -- Reading

    async def _read(self, receive: Receive, config: SessionConfig, query: dict[str, str]) -> None:
        model = query.get("model") or query.get("deployment") or config.model
        info = info_of(self._admitted.scope, self._settings)
        info = replace(info, conversation=new_id(), line="realtime", model=model[:NAME_CHARS_MAX])
        call = await self._make(info, replace(config, model=model))
        if self._carrier is not None:
            self._carrier.join(call)
        call.greet()
        try:
            async with asyncio.timeout(self._settings.limits.silent_s_max) as idle:
                while (event := await receive())["type"] != "websocket.disconnect":
                    if self._outbox.is_closing:
                        return
                    if event["type"] == BEGIN:
                        if call.conversation is None and not await self._begin(call):
                            return
                        idle.reschedule(self._idle_until(call))
                        continue
                    text = event.get("text")
                    given = text if text is not None else event.get("bytes") or b""
                    if self._limits.is_too_fast(given):
                        self._refuse(TOO_FAST, LIMITED)
                        return
                    await self._take(call, given)
                    idle.reschedule(self._idle_until(call))
        except TimeoutError:
            self._limits.note_silent()
            self._refuse(SILENT, INVALID)

    def _idle_until(self, call: RealtimeCall) -> float | None:
        """The time at which the socket will be closed if no more messages arrive. None (no limit) after the
        conversation has begun."""
        if call.over is not None:
            return None
        return asyncio.get_running_loop().time() + self._settings.limits.silent_s_max

    async def _make(self, info: CallInfo, config: SessionConfig) -> RealtimeCall:
        context: Context[Any] = Context(info)
        agent = await self._conversations.source.make(context)
        return RealtimeCall(
            agent,
            context,
            self._settings.limits,
            self._outbox.send,
            self._outbox.drop_sound,
            config=config,
            journals=self._settings.journals,
            make_player=self._carrier.make_player if self._carrier is not None else ClientPlayer,
            track_hz=self._carrier.rate_hz if self._carrier is not None else 0,
            address=self._admitted.address,
            note_refused=self._conversations.note_refused,
        )

    async def _take(self, call: RealtimeCall, text: str | bytes) -> None:
        """Process one event. The first one that doesn't only prepare the conversation starts it."""
        try:
            event = read_event(text)
        except RefusedEvent as why:
            call.post(why)
            if self._limits.is_too_bad():
                self._refuse(BAD, INVALID)
            return
        if call.conversation is None and isinstance(event, BEGINNING) and not await self._begin(call, event):
            return
        if not call.is_over:
            call.post(event)

    async def _begin(self, call: RealtimeCall, first: ClientEvent | None = None) -> bool:
        """Start the conversation with this event of the client. If that isn't allowed or fails, the client is told, and
        the socket is closed."""
        self._call = call
        begin = partial(call.begin, self._conversations.watch, first)
        return await begin_counted(call, self._conversations, begin, self._disconnect, self._outbox.disconnect)

    def _disconnect(self, code: CloseCode) -> None:
        self._refuse(code, LIMITED if code.code == TRY_LATER else SERVER)

    def _refuse(self, code: CloseCode, kind: str) -> None:
        """Disconnect the client, with an error that says why."""
        LOG.warning("a client is disconnected: %s (%d)", code.name, code.code)
        why = EventRefused(code.name, code.reason, None, kind)
        event: JsonObject = {"type": "error", "event_id": f"event_{new_id()}", "error": why.as_error(None)}
        self._outbox.send(event)
        self._outbox.disconnect(code)
