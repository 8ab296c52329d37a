"""The sockets of clients of the Realtime protocol: admission, limits, and the conversation behind each.

Rule: nothing that a client sends affects another conversation, and a socket that is closed says why: with an `error`
event, and with a close code that tells the client whether to come back.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from duologue.core.errors import DuologueError
from duologue.fairness.bucket import Rate, full, take
from duologue.ports.context import CallInfo, Context
from duologue.runtime.conversation import Conversation

from ..caller_address import caller_address, read_networks
from ..client_socket import BURST_S, info_of
from ..close_codes import CloseCode
from ..conversations import Conversations
from ..credentials import Admission, bearer, header, is_own_page
from ..limited_caller import now_ms
from ..served_conversation import new_id
from ..settings import ServerSettings
from ..siblings import SCOPE_KEY
from ..wrong_credentials import WrongCredentials, address_hash
from .call import RealtimeCall
from .client_events import RefusedEvent, SessionUpdate, read_event
from .client_player import ClientPlayer
from .client_secrets import ClientSecrets
from .event_outbox import BROKEN, NORMAL, RECONNECT, REFUSED, TRY_LATER, EventOutbox
from .fields import JsonObject
from .peer_call import BEGIN, PeerCall
from .refusal import INVALID, LIMITED, SERVER, EventRefused

LOG = logging.getLogger("duologue.realtime")
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
SUBPROTOCOL = "realtime"
KEY_PROTOCOL = "openai-insecure-api-key."  # browsers can't send headers, so they present the key like this
CLOSE_S_MAX = 5.0
OVER = CloseCode(NORMAL, "session_ended", "The conversation has ended.")
TOO_FAST = CloseCode(REFUSED, "rate_limit_exceeded", "Too many events within a second.")
BAD = CloseCode(REFUSED, "too_many_errors", "Too many invalid events.")
SILENT = CloseCode(REFUSED, "session_idle", "The client sent nothing for a long time: connect again.")
STOPPING = CloseCode(RECONNECT, "server_stopping", "The server is stopping: connect again.")
NOT_STARTED = CloseCode(BROKEN, "start_failed", "The conversation could not start.")


class RealtimeGate:
    """The ASGI endpoint of all sockets of the Realtime protocol."""

    def __init__(
        self,
        conversations: Conversations,
        settings: ServerSettings,
        client_secrets: ClientSecrets,
        wrong: WrongCredentials,
    ) -> None:
        self._conversations = conversations
        self._settings = settings
        self._secrets = client_secrets
        self._wrong = wrong
        self._proxies = read_networks(settings.trusted_proxies)
        self._by_address: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        if (connection := scope.get(SCOPE_KEY)) is not None:
            connection.settle()  # the conversation stays in the process that the client has reached
        address = caller_address(scope, self._proxies)
        self._by_address[address] += 1
        try:
            presented = presented_key(scope)
            refusal = await self._refusal(scope, presented, address)
            if refusal is not None:
                await refuse_handshake(scope, send, *refusal)
                return
            admission = self._secrets.admit(presented, scope)
            assert admission is not None
            protocol = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
            await send({"type": "websocket.accept", "subprotocol": protocol})
            socket = RealtimeSocket(self._conversations, self._settings, send, scope, admission, address)
            await socket.serve(receive, self._secrets.config_of(presented), _query(scope))
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    async def _refusal(self, scope: Scope, presented: str, address: str) -> tuple[int, EventRefused] | None:
        """Why this socket isn't opened: a status and an error."""
        if not is_own_page(scope, self._settings):
            return 403, EventRefused("invalid_origin", "Pages from another origin may not connect to this server.")
        if self._by_address[address] > self._settings.limits.sockets_per_address_max:
            self._conversations.note_refused("address")
            return 429, EventRefused("rate_limit_exceeded", "Your address has too many sockets.", None, LIMITED)
        if self._secrets.admit(presented, scope) is None:
            if presented:
                wait_s = self._wrong.note(address, time.monotonic())
                LOG.warning("wrong key from address %s, number %d", address_hash(address), self._wrong.count(address))
                await asyncio.sleep(wait_s)
            return 401, EventRefused("invalid_api_key", "The key is missing, wrong or over.")
        if self._conversations.is_draining:
            return 503, EventRefused("server_stopping", "The server is stopping: connect again.", None, SERVER)
        query = _query(scope)
        if "call_id" in query or query.get("intent") == "transcription":
            what = "call_id" if "call_id" in query else "intent"
            return 400, EventRefused("unsupported_parameter", f"'{what}' isn't supported by this server.", what)
        return None


def presented_key(scope: Scope) -> str:
    """The key of a request: in its header, in Azure's header, or among the subprotocols of a browser."""
    named = bearer(scope) or header(scope, b"api-key")
    offered = [one.removeprefix(KEY_PROTOCOL) for one in scope.get("subprotocols", ()) if one.startswith(KEY_PROTOCOL)]
    return named or (offered[0] if offered else "")


def _query(scope: Scope) -> dict[str, str]:
    return dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))


async def refuse_handshake(scope: Scope, send: Send, status: int, why: EventRefused) -> None:
    """Answer the request with this status instead of opening a socket."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": REFUSED, "reason": why.message})
        return
    body = json.dumps({"error": why.as_error(None)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


class RealtimeSocket:
    """One client's socket, or its data channel. Then `carrier` carries the sound."""

    def __init__(
        self,
        conversations: Conversations,
        settings: ServerSettings,
        send: Send,
        scope: Scope,
        admission: Admission,
        address: str,
        carrier: PeerCall | None = None,
    ) -> None:
        self._conversations = conversations
        self._settings = settings
        self._scope = scope
        self._admission = admission
        self._address = address
        self._carrier = carrier  # of sound beside the events
        self._outbox = EventOutbox(send, settings.limits.unread_bytes_max)
        self._call: RealtimeCall | None = None
        self._bad = 0
        per_s_max = settings.limits.messages_per_s_max
        self._rate = Rate(per_s_max, 1_000, per_s_max * BURST_S)
        self._events = full(self._rate, now_ms())

    async def serve(self, receive: Receive, config: Any, query: dict[str, str]) -> None:
        """Serve the socket until either side closes it."""
        loop = asyncio.get_running_loop()
        writing = loop.create_task(self._outbox.write(), name="realtime writing")
        reading = loop.create_task(self._read(receive, config, query), name="realtime reading")
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            if self._outbox.is_closing:
                await asyncio.wait({writing}, timeout=CLOSE_S_MAX)
        finally:
            reading.cancel()
            writing.cancel()
            for failure in await asyncio.gather(reading, writing, return_exceptions=True):
                if isinstance(failure, Exception):
                    LOG.error("a socket failed: %s", type(failure).__name__)
            await self._leave()

    async def _leave(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            self._conversations.others.discard(call)
            await call.end("hung up")

    # -- Reading

    async def _read(self, receive: Receive, config: Any, query: dict[str, str]) -> None:
        info = replace(info_of(self._scope, self._settings), conversation=new_id(), line="realtime")
        model = query.get("model") or query.get("deployment") or config.model
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
                    if self._is_too_fast():
                        self._refuse(TOO_FAST, LIMITED)
                        return
                    given = event.get("text")
                    await self._take(call, given if given is not None else event.get("bytes") or b"")
                    idle.reschedule(self._idle_until(call))
        except TimeoutError:
            self._refuse(SILENT, INVALID)

    def _idle_until(self, call: RealtimeCall) -> float | None:
        """When the socket is closed if nothing more comes. One with a conversation may be silent."""
        if call.over is not None:
            return None
        return asyncio.get_running_loop().time() + self._settings.limits.silent_s_max

    async def _make(self, info: CallInfo, config: Any) -> RealtimeCall:
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
            address=self._address,
            note_refused=self._conversations.note_refused,
        )

    def _is_too_fast(self) -> bool:
        self._events, wait_ms = take(self._rate, self._events, 1, now_ms())
        if wait_ms != 0:
            self._conversations.note_refused("messages")
        return wait_ms != 0

    async def _take(self, call: RealtimeCall, text: str | bytes) -> None:
        """Process one event. The first one that isn't `session.update` starts the conversation."""
        try:
            event = read_event(text)
        except RefusedEvent as why:
            call.post(why)
            self._bad += 1
            if self._bad >= self._settings.limits.bad_messages_max:
                self._refuse(BAD, INVALID)
            return
        if call.conversation is None and not isinstance(event, SessionUpdate) and not await self._begin(call):
            return
        if not call.is_over:
            call.post(event)

    async def _begin(self, call: RealtimeCall) -> bool:
        """Start the conversation. If that isn't allowed or fails, the client is told, and the socket is closed."""
        refused = self._conversations.why_no_start(self._address)
        if refused is not None:
            self._refuse(CloseCode(TRY_LATER, "rate_limit_exceeded", refused.message), LIMITED)
            return False
        self._call = call
        self._conversations.others.add(call)
        try:
            await call.begin(self._watch)
        except DuologueError as failure:
            LOG.error("a conversation could not start: %s", type(failure).__name__)
            self._refuse(NOT_STARTED, SERVER)
            return False
        assert call.over is not None
        call.over.add_done_callback(lambda _: self._end())
        return True

    def _watch(self, conversation: Conversation) -> None:
        self._conversations.watch(conversation)

    def _end(self) -> None:
        """The conversation is over, so the socket is closed."""
        self._outbox.disconnect(STOPPING if self._conversations.is_draining else OVER)

    def _refuse(self, code: CloseCode, kind: str) -> None:
        """Disconnect the client, with an error that says why."""
        LOG.warning("a client is disconnected: %s (%d)", code.name, code.code)
        why = EventRefused(code.name, code.reason, None, kind)
        event: JsonObject = {"type": "error", "event_id": f"event_{new_id()}", "error": why.as_error(None)}
        self._outbox.send(event)
        self._outbox.disconnect(code)
