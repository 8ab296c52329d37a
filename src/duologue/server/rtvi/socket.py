"""The WebSockets of RTVI clients: admission, limits, and the conversation behind each.

Rule: nothing that a client sends affects another conversation, and a socket that is closed says why: with an `error`
message that is fatal, and with a close code that tells the client whether to come back.
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

from duologue.fairness.bucket import Rate, full, take
from duologue.lines.browser import BrowserLine
from duologue.ports.context import Context

from ..caller_address import caller_address, read_networks
from ..client_socket import BURST_S, info_of
from ..close_codes import CloseCode
from ..conversations import Conversations
from ..credentials import bearer, is_own_page
from ..limited_caller import now_ms
from ..realtime.client_secrets import ClientSecrets
from ..realtime.committed_audio import frames_of
from ..served_conversation import new_id
from ..settings import ServerSettings
from ..siblings import SCOPE_KEY
from ..wrong_credentials import WrongCredentials, address_hash
from .call import REFUSED, RtviCall
from .frame_outbox import FrameOutbox
from .frames import AudioOfClient, InvalidFrame, TextOfClient, read_frame
from .incoming import read_message
from .paced_player import PacedPlayer
from .refusal import MessageRefused

LOG = logging.getLogger("duologue.rtvi")
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
RATES_HZ = (8_000, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000)
CLOSE_S_MAX = 5.0
TOO_FAST = CloseCode(REFUSED, "rate_limit_exceeded", "Too many frames within a second.")
BAD = CloseCode(REFUSED, "too_many_errors", "Too many invalid messages.")
SILENT = CloseCode(REFUSED, "session_idle", "The client sent nothing for a long time: connect again.")
NOT_READY = CloseCode(REFUSED, "no_client_ready", "The client sent no 'client-ready' in time.")
_LONG_LIVED = "The server's token doesn't belong into a URL: get a key from /rtvi/connect, or make a ticket."


class RtviGate:
    """The ASGI endpoint of all WebSockets of RTVI clients."""

    def __init__(
        self, conversations: Conversations, settings: ServerSettings, keys: ClientSecrets, wrong: WrongCredentials
    ) -> None:
        self._conversations = conversations
        self._settings = settings
        self._keys = keys
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
            refusal = await self._refusal(scope, address)
            if refusal is not None:
                await refuse_handshake(scope, send, *refusal)
                return
            await send({"type": "websocket.accept"})
            socket = RtviSocket(self._conversations, self._settings, send, scope, address)
            await socket.serve(receive)
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    async def _refusal(self, scope: Scope, address: str) -> tuple[int, str] | None:
        """Why this socket isn't opened: a status and a reason."""
        if not is_own_page(scope, self._settings):
            return 403, "Pages from another origin may not connect to this server: see --origin."
        if self._by_address[address] > self._settings.limits.sockets_per_address_max:
            self._conversations.note_refused("address")
            return 429, "Your address has too many sockets."
        in_url = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"))).get("token", "")
        if in_url and self._settings.needs_ticket and self._keys.may_make(in_url, scope):
            return 401, _LONG_LIVED
        presented = in_url or bearer(scope)
        if self._keys.admit(presented, scope) is None:
            if presented:
                wait_s = self._wrong.note(address, time.monotonic())
                LOG.warning("wrong key from address %s, number %d", address_hash(address), self._wrong.count(address))
                await asyncio.sleep(wait_s)
            return 401, "The key is missing, wrong or over: get one from /rtvi/connect."
        if self._conversations.is_draining:
            return 503, "The server is stopping: connect again."
        return None


async def refuse_handshake(scope: Scope, send: Send, status: int, why: str) -> None:
    """Answer the request with this status instead of opening a socket."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": REFUSED, "reason": why})
        return
    body = json.dumps({"detail": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


class RtviSocket:
    """One client's WebSocket."""

    def __init__(
        self, conversations: Conversations, settings: ServerSettings, send: Send, scope: Scope, address: str
    ) -> None:
        self._conversations = conversations
        self._settings = settings
        self._scope = scope
        self._address = address
        self._outbox = FrameOutbox(send, settings.limits.unread_bytes_max)
        self._line = BrowserLine()
        self._bad = 0
        per_s_max = settings.limits.messages_per_s_max
        self._rate = Rate(per_s_max, 1_000, per_s_max * BURST_S)
        self._frames = full(self._rate, now_ms())

    async def serve(self, receive: Receive) -> None:
        """Serve the socket until either side closes it."""
        call = await self._make()
        player = PacedPlayer(self._line, self._outbox.send_sound, call.note_words)
        self._line.attach(player)
        loop = asyncio.get_running_loop()
        writing = loop.create_task(self._outbox.write(), name="rtvi writing")
        reading = loop.create_task(self._read(receive, call), name="rtvi reading")
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
            player.close()
            await call.end("hung up")

    async def _make(self) -> RtviCall:
        info = replace(info_of(self._scope, self._settings), conversation=new_id(), line="rtvi")
        context: Context[Any] = Context(info)
        agent = await self._conversations.source.make(context)
        return RtviCall(
            agent, context, self._conversations, self._settings, self._line, self._outbox, address=self._address
        )

    async def _read(self, receive: Receive, call: RtviCall) -> None:
        limits = self._settings.limits
        try:
            async with asyncio.timeout(limits.hello_s_max) as idle:
                while (event := await receive())["type"] != "websocket.disconnect":
                    if self._outbox.is_closing:
                        return
                    if self._is_too_fast():
                        call.disconnect(TOO_FAST)
                        return
                    given = event.get("bytes")
                    self._take(call, given if given is not None else event.get("text") or "")
                    if call.state.ready_id:
                        idle.reschedule(self._idle_until(call))
        except TimeoutError:
            call.disconnect(SILENT if call.state.ready_id else NOT_READY)

    def _idle_until(self, call: RtviCall) -> float | None:
        """When the socket is closed if nothing more comes. One with a conversation may be silent."""
        if call.has_begun:
            return None
        return asyncio.get_running_loop().time() + self._settings.limits.silent_s_max

    def _is_too_fast(self) -> bool:
        self._frames, wait_ms = take(self._rate, self._frames, 1, now_ms())
        if wait_ms != 0:
            self._conversations.note_refused("messages")
        return wait_ms != 0

    def _take(self, call: RtviCall, data: bytes | str) -> None:
        """Process one frame."""
        try:
            if isinstance(data, str):
                raise MessageRefused("Frames are binary: protobuf messages of the type pipecat.Frame.")
            frame = read_frame(data)
            if isinstance(frame, AudioOfClient):
                self._hear(call, frame)
            elif isinstance(frame, TextOfClient):
                call.post(read_message(frame.json))
            else:
                raise MessageRefused(f"A frame with {frame.kind} isn't taken.")
        except InvalidFrame as why:
            self._note_bad(call, MessageRefused(f"This isn't a frame: {why}."))
        except MessageRefused as why:
            self._note_bad(call, why)

    def _note_bad(self, call: RtviCall, why: MessageRefused) -> None:
        call.post(why)
        self._bad += 1
        if self._bad >= self._settings.limits.bad_messages_max:
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
