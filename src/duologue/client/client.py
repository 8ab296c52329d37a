"""A client for programs. It holds one conversation, plays the agent's voice by the clock (without a loudspeaker), and
reconnects by itself.

The attributes of the client hold the current state, and `happenings` reports what happens. Rule: after a reconnect, a
typed message is sent again until the server has confirmed it. The server accepts each message only once.
"""

from __future__ import annotations

import asyncio
import inspect
import uuid
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from . import clock_player, reconnecting
from .clock_player import ChunkArrived, ClockPlayer, PlayCommanded, PlayerInput, PlayerTick
from .failures import ClientFailed, ConnectionFailed, NoAnswerHeard
from .happening_reader import HappeningReader
from .happenings import OVER, CaptionChanged, ConnectionChanged, Happening, NoticeShown, TalkOver, happening
from .messages import SAMPLES_PER_MS, VERSION, VOICE, ServerSaid, VoiceChunk
from .protocol_socket import ProtocolSocket
from .reconnecting import LostConnection

TICK_S = 0.02
PING_S = 10.0
RECEIPTS_MAX = 4  # as many as hello may have
SILENT_S_MAX = 2 * PING_S  # without a message of the server, the connection is given up
FRAME_MS = 20
ANSWER_S_MAX = 60.0
Token = str | Callable[[], str | Awaitable[str]]


class Client:
    """A client of the agent at `url`, such as http://127.0.0.1:8765/. Use it as an async context manager.

    `token` is a token or a ticket, or a function that is called for each connection and returns a token or ticket.
    Normally, sound counts as heard when it would have been played; with `plays_at_once`, as soon as it arrives.
    """

    def __init__(
        self,
        url: str,
        *,
        token: Token = "",
        language: str = "en",
        seat: str = "",
        rate_hz: int = 16_000,
        plays_at_once: bool = False,
        **options: Any,
    ) -> None:
        self.url = url
        self.seat = seat or f"program-{uuid.uuid4()}"
        self.phase = ""  # of the conversation: listening, speaking …
        self.connection = ConnectionChanged("closed")
        self.agent: dict[str, Any] = {}  # its name, and whether it hears and speaks
        self.conversation = ""  # its id; empty before the first, and after its end
        self.captions: dict[tuple[str, int], CaptionChanged] = {}
        self.unsent: dict[str, str] = {}  # typed messages that the server hasn't confirmed, by id
        self._receipts: dict[int, str] = {}  # by voice: of answers that the server could not save in time
        self._token = token
        self._language = language
        self._rate_hz = rate_hz
        self._plays_at_once = plays_at_once
        self._options = options
        self._key = ""
        self._player = ClockPlayer()
        self._socket: ProtocolSocket | None = None
        self._readers: weakref.WeakSet[HappeningReader] = weakref.WeakSet()
        self._opened = asyncio.Event()  # the first connection is ready, or has failed
        self._heard_s = 0.0  # when the server sent something
        self._running: asyncio.Task[None] | None = None

    # -- Connection

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connect, and stay connected. Returns when the server is ready. Raises ConnectionFailed if the server can't be
        reached or refuses the client."""
        if self._running is None or self._running.done():
            self._opened.clear()
            self._running = asyncio.get_running_loop().create_task(self._run(), name="client connection")
        await self._opened.wait()
        self._check_connection()

    async def close(self) -> None:
        """Disconnect. The server keeps the conversation for a while. If you call `connect` in this time, the
        conversation is resumed."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        self._tell(ConnectionChanged("closed"))

    def happenings(self) -> HappeningReader:
        """An async iterator over everything that happens from now on. It ends when the client is closed, when the
        server refuses the client, or when the client gives up reconnecting."""
        reader = HappeningReader()
        self._readers.add(reader)
        return reader

    def _check_connection(self) -> None:
        now = self.connection
        if now.phase in OVER:
            raise ConnectionFailed(now.reason or f"the connection is {now.phase}", now.code)

    # -- Commands

    async def start(self, microphone: str = "on") -> None:
        """Begin a conversation, and wait until the agent listens or speaks. If `microphone` is "off", the agent doesn't
        expect to hear anything. Raises ClientFailed if the conversation can't start."""
        happenings = self.happenings()
        if not await self.send("start", microphone=microphone):
            raise ConnectionFailed("a conversation needs a connection: call connect first")
        async for told in happenings:
            if isinstance(told, ServerSaid) and told.kind == "error":
                raise ClientFailed(f"the conversation can't start: {told.payload.get('message', '')}")
            if isinstance(told, TalkOver):
                raise ClientFailed(f"the conversation can't start: {told.reason}")
            if self.conversation and self.phase in ("listening", "speaking"):
                return
        self._check_connection()

    async def type(self, text: str) -> str:
        """Send a typed text as a whole turn of the user. Returns the id of the message. If there is no connection, the
        message is sent after the next connect."""
        id_ = str(uuid.uuid4())
        self.unsent[id_] = text
        await self.send("type", text=text, id=id_)
        return id_

    async def ask(self, text: str, answer_s_max: float = ANSWER_S_MAX) -> str:
        """Send a typed text as a turn of the user, and wait for the agent's next whole answer. Returns the part of the
        answer that was heard. Raises NoAnswerHeard if there is no answer, and ConnectionFailed if there is no
        connection."""
        self._check_connection()
        happenings = self.happenings()
        await self.type(text)
        try:
            async with asyncio.timeout(answer_s_max):
                async for told in happenings:
                    if isinstance(told, CaptionChanged) and told.role == "assistant" and told.is_final:
                        return told.text
                    if isinstance(told, TalkOver):
                        raise NoAnswerHeard(f"the conversation ended: {told.reason}")
                    if isinstance(told, NoticeShown) and told.code == "lost":
                        raise NoAnswerHeard(told.message)
        except TimeoutError:
            raise NoAnswerHeard(f"no answer within {answer_s_max:g} s") from None
        raise NoAnswerHeard(self.connection.reason or f"the connection is {self.connection.phase}")

    async def send_audio(self, pcm: bytes) -> None:
        """Send a piece of the user's sound, as it is recorded: 10 to 200 ms of 16-bit mono PCM at `rate_hz`. If there
        is no connection, the piece is dropped."""
        if self._socket is not None:
            await self._socket.send_raw(pcm)

    async def speak(self, pcm: bytes) -> None:
        """Send this sound in real time: one second of sound takes one second. Returns when everything was sent."""
        size = self._rate_hz * FRAME_MS // 1000 * 2
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        for at in range(0, len(pcm), size):
            await self.send_audio(pcm[at : at + size].ljust(size, b"\0"))
            due_s += FRAME_MS / 1000
            await asyncio.sleep(max(0.0, due_s - loop.time()))

    async def end(self) -> None:
        """End the conversation (hang up)."""
        await self.send("end")

    async def send(self, kind: str, **payload: Any) -> bool:
        """Send any message of the protocol. Returns False if there is no connection."""
        return self._socket is not None and await self._socket.send(kind, **payload)

    # -- The connection, until it is closed

    async def _run(self) -> None:
        try:
            await self._stay()
        except Exception as problem:
            self._tell(ConnectionChanged("lost", reason=f"the client failed: {problem!r}"))
            raise
        finally:
            self._opened.set()

    async def _stay(self) -> None:
        """Connect, and connect again whenever the connection is lost. If the very first attempt to connect fails, give
        up."""
        lost = LostConnection()
        while True:
            code, reason = await self._visit()
            if self.connection.phase == "open":
                lost = LostConnection()
            lost, plan = reconnecting.after_close(lost, code, _now_ms())
            phase = plan.phase if self._opened.is_set() or plan.phase == "refused" else "lost"
            self._tell(ConnectionChanged(phase, code, reason))
            if phase != "waiting":
                return
            await asyncio.sleep(plan.in_ms / 1000)

    async def _visit(self) -> tuple[int, str]:
        """Open one socket and use it until it is closed. Returns the close code and the reason. The reason is the last
        error that the server sent; if it sent none, the socket's close reason."""
        error = ""
        try:
            hello = await self._hello()
            socket = await ProtocolSocket.open(self.url, **self._options)
        except ConnectionFailed as problem:
            return 0, str(problem)
        self._heard_s = asyncio.get_running_loop().time()
        beating = asyncio.get_running_loop().create_task(self._beat(socket), name="client playback")
        try:
            await socket.send("hello", **hello)
            async for received in socket:
                self._heard_s = asyncio.get_running_loop().time()
                if isinstance(received, ServerSaid) and received.kind == "error":
                    error = received.payload.get("message", "")
                await self._take(socket, received)
        finally:
            self._socket = None
            beating.cancel()
            if not socket.close_code:
                await socket.close()  # an abort would lose what was sent last, such as `end`
        return socket.close_code or 1006, error or socket.close_reason

    async def _hello(self) -> dict[str, Any]:
        token = await self._get_token()
        hello: dict[str, Any] = {"version": VERSION, "seat": self.seat, "language": self._language}
        hello |= {"audio": {"rate_hz": self._rate_hz}, **({"token": token} if token else {})}
        if self.conversation:
            self._player, _ = clock_player.step(self._player, PlayerTick(_now_ms()))
            hello |= {"conversation": self.conversation, "key": self._key, "take_over": True}
            if (position := self._player.position) is not None:
                hello["played"] = position
            if self._receipts:
                hello["receipts"] = list(self._receipts.values())[-RECEIPTS_MAX:]
        return hello

    async def _get_token(self) -> str:
        """The token for this connection. Raises ConnectionFailed if the function that returns the token fails."""
        if isinstance(self._token, str):
            return self._token
        try:
            token = self._token()
            return await token if inspect.isawaitable(token) else token
        except Exception as problem:  # the program's own function may raise anything
            raise ConnectionFailed(f"the function that returns the token failed: {problem!r}") from problem

    async def _beat(self, socket: ProtocolSocket) -> None:
        """At regular intervals, report the playback to the server and keep the connection alive."""
        loop = asyncio.get_running_loop()
        ping_s = loop.time() + PING_S
        while True:
            await asyncio.sleep(TICK_S)
            await self._play(socket, PlayerTick(_now_ms()))
            if loop.time() > ping_s:
                ping_s = loop.time() + PING_S
                await socket.send("ping", t=_now_ms())
            if loop.time() - self._heard_s > SILENT_S_MAX:
                socket.abort()
                return

    # -- What the server sends

    async def _take(self, socket: ProtocolSocket, received: ServerSaid | VoiceChunk) -> None:
        if isinstance(received, VoiceChunk):
            if received.kind == VOICE:
                await self._play(socket, ChunkArrived(received.number, received.chunk, received.samples, _now_ms()))
        else:
            await self._obey(socket, received)
        self._tell(happening(received))

    async def _obey(self, socket: ProtocolSocket, said: ServerSaid) -> None:
        payload = said.payload
        match said.kind:
            case "ready":
                self.agent = payload["agent"]
                self._socket = socket
                self._tell(ConnectionChanged("open"))
                self._opened.set()
            case "conversation":
                await self._enter(socket, payload)
            case "receipt":
                self._receipts.pop(payload["voice"], None)
                self._receipts[payload["voice"]] = payload["receipt"]
            case "key":
                self._key = payload["key"]
                await socket.send("key", key=self._key)
            case "state":
                self.phase = payload["phase"]
            case "typed":
                self.unsent.pop(payload["id"], None)
            case "error":
                self.unsent.pop(payload.get("id", ""), None)
            case "play":
                given = PlayCommanded(payload["action"], payload["voice"], payload.get("ms") or 0, _now_ms())
                await self._play(socket, given)
            case "ended":
                self._forget()
            case "notification" if payload["code"] == "gone" and self.conversation:
                self._forget()
                self._tell(TalkOver("gone"))

    async def _enter(self, socket: ProtocolSocket, payload: dict[str, Any]) -> None:
        if payload["conversation"] != self.conversation:
            self.captions.clear()
            self._receipts.clear()
            self._player = ClockPlayer()
        self.conversation, self._key = payload["conversation"], payload["key"]
        if payload.get("resumed"):
            for id_, text in tuple(self.unsent.items()):
                await socket.send("type", text=text, id=id_)

    def _forget(self) -> None:
        self.conversation = self._key = self.phase = ""
        self.unsent.clear()
        self._receipts.clear()

    async def _play(self, socket: ProtocolSocket, given: PlayerInput) -> None:
        self._player, reports = clock_player.step(self._player, given)
        if self._plays_at_once and self._player.is_sounding:
            left_ms = (self._player.arrived - self._player.heard) // SAMPLES_PER_MS + 1
            self._player, more = clock_player.step(self._player, PlayerTick(given.at_ms + left_ms))
            reports += more
        for report in reports:
            await socket.send(report.kind, voice=report.voice, ms=report.ms)

    def _tell(self, told: Happening) -> None:
        if isinstance(told, ConnectionChanged):
            self.connection = told
        elif isinstance(told, CaptionChanged):
            self.captions[told.role, told.number] = told
        for reader in tuple(self._readers):
            reader.put(told)


def _now_ms() -> int:
    return round(asyncio.get_running_loop().time() * 1000)
