"""The WebSocket of one client, from its hello message to its close: admission, rate limits, and which method handles
each message.

The module uses ASGI directly, because each conversation has fifty messages a second, and a web framework in between
would cost too much time. Rule: nothing that a client sends affects another conversation.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl

from duologue import __version__
from duologue.core.views import PHASES
from duologue.lines.playback.state import OUTPUT_HZ
from duologue.observe.diagnostics import correlation_id
from duologue.observe.hearing_fact import Microphone
from duologue.observe.labels import LABELS, WAITS, label
from duologue.observe.notices import about
from duologue.phrases.texts import notice
from duologue.ports.context import CallInfo
from duologue.ports.store import StoreFailed

from . import server_messages
from .access_control import AccessControl, is_handed
from .caller_budget import Refused
from .client_messages import FACTS, VERSION, WORDS, BadMessage, ClientMessage, WrongVersion, read_message
from .client_outbox import CLOSE_S_MAX, ClientOutbox
from .close_codes import (
    BAD_MESSAGE,
    MOVED,
    NO_HELLO,
    NO_STORE,
    NO_TOKEN,
    SEAT_TAKEN,
    SILENT,
    STOPPING,
    TICKET_OVER,
    TOO_FAST,
    TOO_MANY,
    WRONG_ORIGIN,
    WRONG_VERSION,
    CloseCode,
)
from .conversations import Conversations, rate_of
from .credentials import Admission, admit, is_own_page, may_operate
from .direct_messages import DIRECT_KEY, DirectMessages
from .limited_caller import now_ms
from .message_limits import MessageLimits
from .microphone_frames import MicrophoneFrames, microphone_frames
from .restore import RECEIVED_MS
from .served_conversation import ServedConversation
from .server_messages import message
from .settings import ServerSettings
from .siblings import SCOPE_KEY
from .sound_formats import SoundFormats, agreed_formats
from .sound_traffic import INPUT, OUTPUT
from .switchboard import Operator
from .voice_frames import voice_frames
from .webrtc_peers import offered_webrtc

if TYPE_CHECKING:
    from .processes.connection import GiveableSocket

LOG = logging.getLogger("duologue.server")
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
_PCM_BYTES_PER_MS = OUTPUT_HZ * 2 // 1000
_NO_DEBUG = "debug: this view is for operators: connect with the operator's token (--operator-token)"
_LASTING = ("version", "seat", "token", "language", "audio")  # of a hello that is repeated


class Gate:
    """The ASGI endpoint of all client sockets. It accepts sockets, and counts how many each IP address has open."""

    def __init__(self, conversations: Conversations, settings: ServerSettings, access: AccessControl) -> None:
        self._conversations = conversations
        self._settings = settings
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        access, address = self._access, self._access.address_of(scope)
        if access.is_too_often(scope):
            await send({"type": "websocket.close"})  # before it is accepted: the handshake is refused (403)
            return
        await send({"type": "websocket.accept"})
        may_stay = access.enter(address, is_handed(scope))
        entrance = Entrance(scope, self._settings, self._conversations.agent_name, access)
        connection, direct = scope.get(SCOPE_KEY), scope.get(DIRECT_KEY)
        socket = ClientSocket(self._conversations, self._settings, send, entrance, connection, address, direct)
        socket.info = info_of(scope, self._settings)
        self._conversations.clients.add(socket.client)
        refusal = None if may_stay else TOO_MANY
        try:
            await socket.serve(receive, refusal if is_own_page(scope, self._settings) else WRONG_ORIGIN)
        finally:
            self._conversations.clients.discard(socket.client)
            if may_stay:
                access.leave(address)


def info_of(scope: Scope, settings: ServerSettings) -> CallInfo:
    """The facts about the conversation that the client's request contains: those query parameters and headers that the
    operator's settings allow."""
    query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope.get("headers", ())}
    return CallInfo(
        query={name: query[name] for name in settings.context_query if name in query},
        headers={name: headers[name.lower()] for name in settings.context_headers if name.lower() in headers},
    )


class Entrance:
    """Checks the credentials of one socket."""

    def __init__(self, scope: Scope, settings: ServerSettings, agent: str, access: AccessControl) -> None:
        self._scope = scope
        self._settings = settings
        self._agent = agent
        self._access = access

    async def admit(self, presented: str) -> Admission | None:
        """What a client that presents this token or ticket may do; None if it may not connect. A wrong token or ticket
        is logged, and its refusal is delayed."""
        admission = admit(presented, self._scope, self._settings, self._agent, time.time())
        if admission is None and presented:
            await self._access.refuse_late(self._scope)
        return admission

    def may_debug(self, presented: str) -> bool:
        """May a client that presents this see the inside of its conversation: the machine's steps, and what the model
        knows? Only an operator may."""
        return may_operate(presented, self._scope, self._settings)


class ClientSocket:
    """One client's socket."""

    def __init__(
        self,
        conversations: Conversations,
        settings: ServerSettings,
        send: Send,
        entrance: Entrance,
        connection: GiveableSocket | None = None,
        address: str = "",
        direct: DirectMessages | None = None,
    ) -> None:
        self._address = address  # towards whose limits this client counts
        self._conversations = conversations
        self._siblings = conversations.siblings
        self._connection = connection  # with which the socket can be given to another process
        self._seat = connection.arrival.seat if connection is not None else ""  # counted for this process
        self._settings = settings
        self.client = self._client = ClientOutbox(send, settings.limits.unread_bytes_max, self._detach, direct)
        self._in_task = 0  # messages that the reading task has yet to handle
        self._is_limited = True  # the reading task has a time limit for the next message
        self._direct = direct
        if direct is not None:
            direct.pass_to(self._take, settings.limits.message_bytes_max, partial(self.refuse, TOO_FAST))
        self._entrance = entrance
        self._operator = Operator(conversations.switchboard, self._client)
        self._reading: asyncio.Task[None] | None = None
        self._hello: dict[str, Any] | None = None
        self._may_debug = False
        self._formats = SoundFormats()
        self._microphone: MicrophoneFrames | None = None  # after hello
        self._language = "en"
        self._served: ServedConversation | None = None
        self.info = CallInfo()
        self._limits = MessageLimits(settings.limits, conversations.note_refused, is_admitted=False)

    async def serve(self, receive: Receive, close_code: CloseCode | None) -> None:
        """Serve the socket until it is closed. If `close_code` is given, refuse the client immediately. A client that
        doesn't read delays the close by at most CLOSE_S_MAX seconds."""
        loop = asyncio.get_running_loop()
        writing = loop.create_task(self._client.write(), name="client writing")
        self._reading = reading = loop.create_task(self._read(receive), name="client reading")
        if close_code is not None:
            self.refuse(close_code)
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            if self._client.is_closing:
                await asyncio.wait({writing}, timeout=CLOSE_S_MAX)
        finally:
            self._client.close()
            self._detach()
            if self._seat:
                self._siblings.leave_seat(self._seat)
            writing.cancel()
            for failure in await asyncio.gather(reading, writing, return_exceptions=True):
                if isinstance(failure, Exception):
                    LOG.error("a socket failed: %s", type(failure).__name__)

    def _detach(self) -> None:
        """Stop reading, and separate the client from its conversation, which continues without the client. Returns
        without waiting until the close frame is sent."""
        if self._reading is not None:
            self._reading.cancel()
        self._operator.leave()
        if self._served is not None:
            self._served.leave(self._client)

    # -- Reading

    async def _read(self, receive: Receive) -> None:
        """Read messages until the client disconnects or the server disconnects it."""
        limits = self._settings.limits
        try:
            async with asyncio.timeout(limits.hello_s_max) as hello_timeout:
                while (event := await receive())["type"] != "websocket.disconnect":
                    if self._client.is_closing:
                        break
                    audio = event.get("bytes")
                    if self._limits.is_too_fast(event["text"] if audio is None else audio):
                        self.refuse(TOO_FAST)
                        break
                    if audio is not None:
                        self._receive_audio(audio)
                    else:
                        await self._receive_text(event["text"])
                    if self._hello is not None:
                        until_s = self._silent_until()
                        if until_s is not None or hello_timeout.when() is not None:
                            hello_timeout.reschedule(until_s)
                        self._is_limited = until_s is not None
                    self._in_task = max(0, self._in_task - 1)
        except TimeoutError:
            self._limits.note_silent()
            self.refuse(NO_HELLO if self._hello is None else SILENT)

    def _take(self, received: str | bytes) -> bool:
        """Handle a message at once, without the reading task. This is possible only if the client is in a conversation
        and all its earlier messages were handled. Otherwise returns False, and the reading task must handle the
        message."""
        served = self._served
        if self._in_task or self._is_limited or served is None or served.is_over or self._client.is_closing:
            self._in_task += 1
            return False
        try:
            if self._limits.is_too_fast(received):
                self.refuse(TOO_FAST)
            elif isinstance(received, str):
                self._take_text(received)
            else:
                self._receive_audio(received)
        except Exception as failure:  # noqa: BLE001 - the socket fails, as if its reading task had failed
            LOG.error("a socket failed: %s", type(failure).__name__)
            self._detach()
        return True

    def _take_text(self, text: str) -> None:
        incoming = self._parse(text)
        if incoming is not None and incoming.type == "hello":
            self._refuse_message("hello was sent already")
        elif incoming is not None:
            self._dispatch(incoming)

    def refuse(self, close_code: CloseCode) -> None:
        """Disconnect the client with this reason."""
        if not self._client.is_closing:
            LOG.warning("a client is disconnected: %s (%d)", close_code.name, close_code.code)
            self._client.disconnect(close_code)

    def _silent_until(self) -> float | None:
        """The time at which the socket will be closed if no more messages arrive. None (no limit) while the client is
        in a conversation or watches calls."""
        if self._operator.is_busy or (self._served is not None and not self._served.is_over):
            return None
        return asyncio.get_running_loop().time() + self._settings.limits.silent_s_max

    def _receive_audio(self, audio: bytes) -> None:
        frames = self._microphone
        if frames is None:
            self._refuse_message("hello must come first")
            return
        try:
            ms = frames.ms_of(audio)
            self._conversations.traffic.note(INPUT, frames.format, len(audio), ms)
            if self._served is not None and self._served.client is self._client:
                self._served.sound.hear_socket(audio, ms, frames)
        except BadMessage as problem:
            self._conversations.traffic.note_refused(frames.format)
            self._refuse_message(str(problem))

    async def _receive_text(self, text: str) -> None:
        incoming = self._parse(text)
        if incoming is None:
            return
        if incoming.type == "hello":
            await self._receive_hello(incoming.payload)
        elif self._hello is None:
            self._refuse_message("hello must come first")
        elif (start := self._dispatch(incoming)) is not None:
            await self._start(start)

    def _parse(self, text: str) -> ClientMessage | None:
        """The message in this text frame. If it is invalid, the client is told, and the result is None."""
        try:
            return read_message(text)
        except WrongVersion:
            self.refuse(WRONG_VERSION)
        except BadMessage as problem:
            self._refuse_message(str(problem))
        return None

    def _refuse_message(self, what: str) -> None:
        LOG.warning("a client sent an invalid message: %s", what)
        self._client.send_message(message("error", code="bad_message", message=what))
        if self._limits.is_too_bad():
            self.refuse(BAD_MESSAGE)

    # -- Hello

    async def _receive_hello(self, hello: dict[str, Any]) -> None:
        if self._hello is not None:
            self._refuse_message("hello was sent already")
            return
        admission = await self._entrance.admit(hello.get("token", ""))
        if admission is None:
            self.refuse(NO_TOKEN)
            return
        self._limits.admit()
        if self._direct is not None:
            self._direct.admit()
        self._operator.may_watch = admission.may_operate
        self._may_debug = self._entrance.may_debug(hello.get("token", ""))
        hello = {**hello, "user": admission.user, RECEIVED_MS: now_ms()}  # the client itself can't set these
        if await self._is_given_away(hello):
            return
        served, close_code = self._conversations.find(hello)
        if close_code is not None:
            self.refuse(close_code)
            return
        try:
            if served is None or served.is_elsewhere:
                served = await self._conversations.restore(hello) or served
        except StoreFailed:
            self.refuse(STOPPING if self._conversations.is_draining else NO_STORE)
            return
        if served is not None and served.is_elsewhere:  # moving to another node: it sends nothing here
            self.refuse(MOVED)
            return
        if served is None and not admission.may_start:
            self.refuse(TICKET_OVER)
            return
        self._hello = hello
        self._agree_on_sound(hello)
        self._language = _language(hello.get("language", ""))
        if self._connection is None or not self._connection.arrival.is_greeted:
            self._client.send_message(self._ready())
        if served is not None:
            self._served = served
            served.address = self._address
            self._conversations.enter(served, self._client, hello, self._language)
        elif hello.get("conversation") and hello.get("take_over") is not False:
            LOG.info("%s: a client reconnected too late", correlation_id(hello["conversation"]))
            if (gone := about("gone")) is not None:
                self._client.send_message(server_messages.written(gone, self._language))
            for outgoing in self._conversations.missed_messages(hello):
                self._client.send_message(outgoing)

    def _agree_on_sound(self, hello: dict[str, Any]) -> None:
        """Choose the sound formats of this socket. They may differ from those of the client's other sockets."""
        self._formats = formats = agreed_formats(hello.get("audio", {}), self._settings.wants_opus)
        self._microphone = microphone_frames(formats.input, rate_of(hello))
        note, form = self._conversations.traffic.note, formats.output
        self._client.use(voice_frames(form), lambda frame, pcm: note(OUTPUT, form, frame, pcm // _PCM_BYTES_PER_MS))

    async def _is_given_away(self, hello: dict[str, Any]) -> bool:
        """Give the socket to another process of the server, if this client belongs to that process. A socket that came
        from another process is never given away again. Returns whether the socket was given away."""
        connection = self._connection
        if connection is None:
            return False
        if not connection.arrival.is_handed:
            process = await self._siblings.find(hello["seat"], hello.get("conversation", ""))
            if process is None:
                self._seat = hello["seat"]
            elif self._siblings.give_socket(connection, process, hello["seat"]):
                self._client.close()
                return True
        connection.settle()
        return False

    def _ready(self) -> server_messages.ServerMessage:
        limits = self._settings.limits
        return message(
            "ready",
            version=VERSION,
            server=__version__,
            language=self._language,
            agent=self._conversations.describe_agent(),
            audio={"input_hz": 16_000, "output_hz": OUTPUT_HZ, **self._formats._asdict()},
            labels={phase: label(phase, self._language) for phase in PHASES},
            waits=[label(wait, self._language) for wait in WAITS],
            limits={"textChars": limits.text_chars_max, "messageBytes": limits.message_bytes_max},
            watchable=self._operator.may_watch,
            webrtc=offered_webrtc(self._settings, time.time()),
        )

    # -- Commands

    def _dispatch(self, incoming: ClientMessage) -> dict[str, Any] | None:
        """Do what this message asks for. If it asks for a new conversation, returns the payload, and the caller must
        start the conversation; otherwise returns None."""
        if incoming.type == "ping":
            self._client.send_message(message("pong", t=incoming.payload["t"]))
        elif incoming.type in ("calls", "watch") or self._operator.is_watching:
            is_busy = self._served is not None and not self._served.is_over
            if incoming.type == "watch" and not is_busy and self._is_given_to_call(incoming.payload["id"]):
                return None
            self._operator.do(incoming, self._language, is_busy)
        elif self._served is not None and not self._served.is_over:
            if incoming.type == "debug" and incoming.payload["on"] and not self._may_debug:
                self._client.send_message(message("error", code="refused", message=_NO_DEBUG))
            elif self._served.client is self._client:
                self._served.do(incoming)
        elif incoming.type == "start":
            return incoming.payload
        elif not self._is_late(incoming):
            named = {"id": incoming.payload["id"]} if "id" in incoming.payload else {}
            self._client.send_message(
                message("error", code="refused", message=f"{incoming.type}: no conversation is running", **named)
            )
        return None

    def _is_late(self, incoming: ClientMessage) -> bool:
        """May this message be ignored because no conversation is running? The client's reports (`FACTS`) may always be
        ignored. Commands may be ignored after a conversation, because the client may have sent them before it knew that
        the conversation had ended. The user's words (`WORDS`) may not be ignored: the client is told that they are
        lost."""
        return incoming.type in FACTS or (self._served is not None and incoming.type not in WORDS)

    def _is_given_to_call(self, id_: str | None) -> bool:
        """Give the operator's socket to another process of the server, if the conversation that the operator wants to
        watch runs there. Returns whether the socket was given away."""
        process = self._conversations.switchboard.process_of(id_)
        if process is None or self._connection is None or not self._operator.may_watch:
            return False
        assert self._hello is not None
        hello = {name: self._hello[name] for name in _LASTING if name in self._hello}
        said = [("hello", hello), ("calls", {"on": True}), ("watch", {"id": id_})]
        if not self._conversations.switchboard.is_subscribed(self._client):
            del said[1]
        messages = [json.dumps({"type": kind, "payload": payload}) for kind, payload in said]
        if not self._siblings.give_socket(self._connection, process, "", messages):
            return False
        self._client.close()
        return True

    async def _start(self, given: dict[str, Any]) -> None:
        assert self._hello is not None
        if self._conversations.is_draining:
            self.refuse(STOPPING)
        elif self._conversations.has_seat(self._hello):  # another tab was first
            self.refuse(SEAT_TAKEN)
        elif (refused := self._conversations.why_no_start(self._address)) is not None:
            self._refuse_start(refused)
        else:
            await self._begin(self._hello, Microphone(given.get("microphone", Microphone.ON)))

    def _refuse_start(self, refused: Refused) -> None:
        """Tell the client why it can't start a conversation. If the server is full, the socket is closed, so that a
        load balancer can send the client to another server."""
        if refused.limit == "conversations":
            self.refuse(TOO_MANY)
        else:
            LOG.warning("a conversation is refused: %s", refused.limit)
            self._client.send_message(message("error", code="start_refused", message=refused.message))
            self._client.send_message(message("ended", reason=refused.message, canRestart=True))

    async def _begin(self, hello: dict[str, Any], microphone: Microphone) -> None:
        """Start a conversation. If that fails, for example because the agent's own code raises an exception, tell the
        client and keep the socket open."""
        try:
            self._served = await self._conversations.begin(
                self._client, hello, self._language, microphone, self.info, self._address
            )
        except Exception as failure:  # noqa: BLE001 - the agent's own code may raise anything
            LOG.error("a conversation can't start: %s", type(failure).__name__)
            self._client.send_message(
                message("error", code="start_refused", message=notice(self._language, "start_refused"))
            )
            self._client.send_message(message("ended", reason="it could not start", canRestart=True))


def _language(wanted: str) -> str:
    language = wanted.replace("_", "-").split("-")[0].lower()
    return language if language in LABELS else "en"
