"""The socket of a client, from its hello to its end: who may come in, how fast, and what goes where.

Speaks ASGI directly: fifty messages a second for each conversation leave no room for layers. Rule: whatever a
client sends, other conversations notice nothing of it.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from duologue import __version__
from duologue.lines.browser import OUTPUT_HZ
from duologue.observe.diagnostics import correlation_id
from duologue.observe.labels import LABELS, STATES, WAITS, label

from . import telling
from .closing import (
    BAD_MESSAGE,
    NO_HELLO,
    NO_TOKEN,
    STOPPING,
    TOO_FAST,
    TOO_MANY,
    WRONG_ORIGIN,
    WRONG_VERSION,
    Goodbye,
)
from .guest import Guest
from .hall import Hall
from .messages import VERSION, BadMessage, Incoming, WrongVersion, read_message
from .room import Room
from .settings import ServerSettings
from .telling import message

LOG = logging.getLogger("duologue.server")
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
_AUDIO_BYTES_MAX = 48_000 * 2 // 5  # 200 ms at the highest rate


class Gate:
    """Lets clients in, one socket each."""

    def __init__(self, hall: Hall, settings: ServerSettings) -> None:
        self._hall = hall
        self._settings = settings
        self._by_address: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        await send({"type": "websocket.accept"})
        address = (scope.get("client") or ("", 0))[0]
        guest = Guest(send, self._settings.limits.unread_bytes_max)
        writing = asyncio.get_running_loop().create_task(guest.write(), name="guest")
        self._hall.guests.add(guest)
        self._by_address[address] = self._by_address.get(address, 0) + 1
        socket = Socket(self._hall, self._settings, guest)
        try:
            goodbye = self._refusal(scope, address)
            if goodbye is not None:
                socket.refuse(goodbye)
                await writing
            else:
                await socket.read(receive)
        finally:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]
            self._hall.guests.discard(guest)
            socket.close()
            await asyncio.wait([writing], timeout=1)
            writing.cancel()

    def _refusal(self, scope: Scope, address: str) -> Goodbye | None:
        if not is_own_origin(scope, self._settings):
            return WRONG_ORIGIN
        if self._by_address[address] > self._settings.limits.sockets_per_address_max:
            return TOO_MANY
        return None


def is_own_origin(scope: Scope, settings: ServerSettings) -> bool:
    """A page may talk only to the server that it came from. Programs send no origin."""
    headers: dict[bytes, str] = {
        name: value.decode("latin-1") for name, value in scope["headers"] if name in (b"origin", b"host")
    }
    origin = headers.get(b"origin")
    if origin is None or "*" in settings.origins or origin in settings.origins:
        return True
    return urlsplit(origin).netloc == headers.get(b"host")


class Socket:
    """One client's socket."""

    def __init__(self, hall: Hall, settings: ServerSettings, guest: Guest) -> None:
        self._hall = hall
        self._settings = settings
        self._guest = guest
        self._hello: dict[str, Any] | None = None
        self._language = "en"
        self._room: Room | None = None
        self._bad = 0
        self._second = 0
        self._count = 0
        self._is_leaving = False

    # -- Reading

    async def read(self, receive: Receive) -> None:
        """Until the client leaves or is sent away."""
        limits = self._settings.limits
        try:
            async with asyncio.timeout(limits.hello_s_max) as patience:
                while not self._is_leaving:
                    event = await receive()
                    if event["type"] == "websocket.disconnect":
                        return
                    if self._is_too_fast(limits.messages_per_s_max):
                        self.refuse(TOO_FAST)
                        continue
                    audio = event.get("bytes")
                    if audio is not None:
                        self._hear(audio)
                    else:
                        self._take(event["text"])
                    if self._hello is not None and patience.when() is not None:
                        patience.reschedule(None)
        except TimeoutError:
            self.refuse(NO_HELLO)
        while (await receive())["type"] != "websocket.disconnect":
            pass  # it was told to go, and may still be talking

    def close(self) -> None:
        self._guest.close()
        if self._room is not None:
            self._room.leave(self._guest)

    def refuse(self, goodbye: Goodbye) -> None:
        if not self._is_leaving:
            self._is_leaving = True
            LOG.warning("a client is sent away: %s (%d)", goodbye.name, goodbye.code)
            self._guest.leave(goodbye)

    def _is_too_fast(self, per_s_max: int) -> bool:
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._count = second, 0
        self._count += 1
        return self._count > per_s_max

    def _hear(self, audio: bytes) -> None:
        if self._hello is None:
            self._complain("hello comes first")
        elif not audio or len(audio) % 2 or len(audio) > _AUDIO_BYTES_MAX:
            self._complain("a frame of audio is 16-bit PCM of at most 200 ms")
        elif self._room is not None:
            self._room.line.hear(audio)

    def _take(self, text: str) -> None:
        try:
            incoming = read_message(text)
        except WrongVersion:
            self.refuse(WRONG_VERSION)
            return
        except BadMessage as problem:
            self._complain(str(problem))
            return
        if incoming.type == "hello":
            self._greet(incoming.payload)
        elif self._hello is None:
            self._complain("hello comes first")
        else:
            self._obey(incoming)

    def _complain(self, what: str) -> None:
        self._bad += 1
        LOG.warning("a bad message: %s", what)
        self._guest.tell(message("error", code="bad_message", message=what))
        if self._bad >= self._settings.limits.bad_messages_max:
            self.refuse(BAD_MESSAGE)

    # -- Hello

    def _greet(self, hello: dict[str, Any]) -> None:
        if self._hello is not None:
            self._complain("hello comes once")
            return
        if not self._may_enter(hello.get("token", "")):
            self.refuse(NO_TOKEN)
            return
        room, goodbye = self._hall.find(hello)
        if goodbye is not None:
            self.refuse(goodbye)
            return
        self._hello = hello
        self._language = _language(hello.get("language", ""))
        self._guest.tell(self._ready())
        if room is not None:
            self._room = room
            self._hall.enter(room, self._guest, hello, self._language)
        elif hello.get("conversation"):
            LOG.info("%s: a client came back too late", correlation_id(hello["conversation"]))
            gone = "That conversation is over; the server no longer has it."
            self._guest.tell(telling.notification("warning", "gone", gone, ("restart",)))

    def _may_enter(self, token: str) -> bool:
        wanted = self._settings.token
        return not wanted or hmac.compare_digest(token.encode(), wanted.encode())

    def _ready(self) -> telling.Message:
        limits = self._settings.limits
        return message(
            "ready",
            version=VERSION,
            server=__version__,
            language=self._language,
            agent=self._hall.describe(),
            audio={"input_hz": 16_000, "output_hz": OUTPUT_HZ},
            labels={state: label(state, self._language) for state in STATES},
            waits=[label(wait, self._language) for wait in WAITS],
            limits={"textChars": limits.text_chars_max, "messageBytes": limits.message_bytes_max},
        )

    # -- Commands

    def _obey(self, incoming: Incoming) -> None:
        if incoming.type == "ping":
            self._guest.tell(message("pong", t=incoming.payload["t"]))
        elif self._room is not None and not self._room.is_over:
            self._room.do(incoming)
        elif incoming.type == "start":
            self._start()
        elif incoming.type not in ("played", "finished", "stopped", "unplayable"):  # of a sound that has just ended
            self._guest.tell(message("error", code="refused", message=f"{incoming.type}: no conversation is going on"))

    def _start(self) -> None:
        assert self._hello is not None
        if self._hall.is_draining:
            self.refuse(STOPPING)
        elif self._hall.is_full:
            self.refuse(TOO_MANY)
        else:
            self._room = self._hall.begin(self._guest, self._hello, self._language)


def _language(wanted: str) -> str:
    language = wanted.replace("_", "-").split("-")[0].lower()
    return language if language in LABELS else "en"
