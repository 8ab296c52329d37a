"""A server of the panel's protocol that sends what a test says, and records what the page sends.

Runs in a thread of its own on a free port. Knows the protocol of docs/protocol.md and no conversation. Rule:
it answers hello, start, end and ping by itself; everything else a test says through it.
"""

from __future__ import annotations

import asyncio
import json
import struct
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

import duologue
from duologue.core.views import PHASES
from duologue.draw.render import render
from duologue.observe.hearing_fact import EarsCondition, Microphone, hearing_of
from duologue.observe.labels import WAITS, label
from tests.limits import WAIT_S

WEB = Path(duologue.__file__).parent / "server" / "web"
POLICY = (
    "default-src 'self'; connect-src 'self'; img-src 'self' data: blob:; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'"
)
RATE_HZ = 24_000

Message = dict[str, Any]


class FakeServer:
    """`say` sends to the page, `wait` waits for its messages; `refusal` is a close code for the next hello."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._heard = threading.Condition()
        self._open: set[WebSocket] = set()
        self._begin()

    def _begin(self) -> None:
        """Everything that a test can change, as it is at first."""
        self.received: list[Message] = []
        self.frames: list[bytes] = []
        self.refusal: tuple[int, str] | None = None
        self.token = ""
        self.history: list[Message] | None = None  # of the conversation that a reconnect finds
        self.agent: Message = {"name": "Ada", "hears": True, "speaks": True}
        self.on_start: Callable[[FakeServer], None] | None = None
        self.replayed: Message = {"rows": [], "regions": {}, "moments": [], "agrees": True}
        self.language = "en"
        self.formats: Message = {}  # of the sound, as a server tells them in ready
        self.calls: list[Message] | None = None  # that go on; None: this server does not let anybody watch
        self._socket: WebSocket | None = None
        self._started = 0
        self.ears = EarsCondition.ON
        self._microphone = Microphone.ON

    # -- What a test does

    def say(self, kind: str, **payload: Any) -> None:
        """Send one message to the page. Its name gets the prefix `duologue.`."""
        self._run(self._send(kind, payload))

    def state(self, state: str, previous: str = "idle", cause: str = "TextTyped", at: int = 0, **more: Any) -> None:
        self.say("state", **state_payload(state, previous, self.language, cause, at), **more)

    def status(self, **more: Any) -> None:
        """Say whether the user is heard, and what else is so beside the phase."""
        self.say("status", **{**self._status(), **more})

    def voice(self, voice: int, chunk: int, pcm: bytes) -> None:
        """Send one chunk of sound."""
        self._frame(1, voice, chunk, pcm)

    def cue(self, cue: int, pcm: bytes) -> None:
        """Send sound of a cue."""
        self._frame(2, cue, 0, pcm)

    def ambient(self, pcm: bytes) -> None:
        """Send the ambient sound."""
        self._frame(3, 0, 0, pcm)

    def _frame(self, kind: int, number: int, chunk: int, pcm: bytes) -> None:
        self.send_frame(struct.pack("<BBHII", kind, 0, 0, number, chunk) + pcm)

    def send_frame(self, frame: bytes) -> None:
        """Send a binary frame as it is."""

        async def send() -> None:
            assert self._socket
            await self._socket.send_bytes(frame)

        self._run(send())

    def close(self, code: int, reason: str = "") -> None:
        async def close() -> None:
            if self._socket:
                await self._socket.close(code, reason)

        self._run(close())

    def wait(self, kind: str, count: int = 1, seconds: float = WAIT_S) -> Message:
        """The payload of the page's next message of this kind, or of the count-th that it has sent."""
        with self._heard:
            found = self._heard.wait_for(lambda: len(self.all(kind)) >= count, seconds)
        assert found, f"no {kind} came; there was {[message['type'] for message in self.received][-12:]}"
        return self.all(kind)[count - 1]

    def wait_frames(self, count: int) -> None:
        """Wait until the microphone has sent this many frames."""
        with self._heard:
            found = self._heard.wait_for(lambda: len(self.frames) >= count, WAIT_S)
        assert found, f"only {len(self.frames)} frames came"

    def all(self, kind: str) -> list[Message]:
        return [message["payload"] for message in self.received if message["type"] == kind]

    def forget(self) -> None:
        """What was received so far."""
        self.received.clear()
        self.frames.clear()

    def reset(self) -> None:
        """Be as if just started, for the next test. The pages that were connected have been closed."""
        with self._heard:
            assert self._heard.wait_for(lambda: not self._open, WAIT_S), "a page of the last test is still connected"
        self._begin()

    # -- The server

    def start(self) -> str:
        """The address of the page."""
        routes = [
            WebSocketRoute("/ws", self._talk),
            Route("/debug/diagram/{name}.svg", _diagram),
            Route("/debug/replay", self._replay, methods=["POST"]),
            Route("/conversations/{id}/journal", _journal),
            Route("/empty", _empty),
            Mount("/", StaticFiles(directory=WEB, html=True)),
        ]
        app = _strict(Starlette(routes=routes))
        config = uvicorn.Config(
            app, host="127.0.0.1", port=0, log_level="critical", ws_ping_interval=None, lifespan="off"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + WAIT_S
        while not self._server.started:
            assert time.monotonic() < deadline, "the fake server did not start"
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/"
        return self.url

    def stop(self) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(WAIT_S)

    def _run(self, work: Any) -> None:
        deadline = time.monotonic() + WAIT_S
        while self._loop is None or self._socket is None:
            assert time.monotonic() < deadline, "no page has come"
            time.sleep(0.01)
        asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S)

    async def _send(self, kind: str, payload: Message) -> None:
        assert self._socket
        await self._socket.send_text(json.dumps({"type": f"duologue.{kind}", "payload": payload}))

    async def _talk(self, socket: WebSocket) -> None:
        await socket.accept()
        self._loop = asyncio.get_running_loop()
        self._open.add(socket)
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                if message.get("text") is None:
                    with self._heard:
                        self.frames.append(message["bytes"])
                        self._heard.notify_all()
                    continue
                data = json.loads(message["text"])
                await self._answer(socket, data["type"], data["payload"])
                with self._heard:
                    self.received.append(data)
                    self._heard.notify_all()
        except WebSocketDisconnect:
            pass
        finally:
            if self._socket is socket:
                self._socket = None
            with self._heard:
                self._open.remove(socket)
                self._heard.notify_all()

    async def _answer(self, socket: WebSocket, kind: str, payload: Message) -> None:
        if kind == "hello":
            await self._welcome(socket, payload)
        elif kind == "start":
            self._started += 1
            self._microphone = Microphone(payload.get("microphone", "on"))
            await self._send("conversation", self._conversation(False))
            await self._send("history", {"items": []})
            await self._send("status", self._status())
            await self._send("state", state_payload("listening", "starting", self.language))
            if self.on_start:
                threading.Thread(target=self.on_start, args=(self,), daemon=True).start()
        elif kind == "microphone":
            self._microphone = Microphone(payload["state"])
            await self._send("status", self._status())
        elif kind == "end":
            await self._send("ended", {"reason": "hung up", "canRestart": True})
        elif kind == "calls" and payload.get("on", True):
            await self._send("calls", {"calls": self.calls})
        elif kind == "watch" and payload["id"] is not None:
            await self._show_call(payload["id"])
        elif kind == "ping":
            await self._send("pong", {"t": payload["t"]})

    async def _welcome(self, socket: WebSocket, hello: Message) -> None:
        refusal = self.refusal
        if self.token and hello.get("token") != self.token:
            refusal = (4401, "a token is wanted")
        if refusal and not (refusal[0] in (4409, 4410) and hello.get("take_over")):
            text = json.dumps({"type": "duologue.error", "payload": {"code": "refused", "message": refusal[1]}})
            await socket.send_text(text)
            await socket.close(*refusal)
            return
        self._socket = socket
        self.language = hello.get("language", "en")
        await self._send("ready", self._ready())
        if hello.get("conversation") and self.history is not None:
            await self._send("conversation", self._conversation(True))
            await self._send("history", {"items": self.history})
            await self._send("state", state_payload("listening", "starting", self.language, "SessionReady"))

    async def _show_call(self, id_: str) -> None:
        call = next((call for call in self.calls or () if call["id"] == id_), None)
        if call is None:
            await self._send("error", {"code": "no_call", "message": "watch: this call doesn't exist or has ended"})
            return
        told = {name: call[name] for name in ("line", "agent", "since", "private")}
        await self._send("conversation", {"conversation": id_, "watching": True, "resumed": True, **told})
        await self._send("history", {"items": self.history or []})
        await self._send("state", state_payload(call["phase"], "starting", self.language))

    def _status(self) -> Message:
        return {
            "hearing": hearing_of(self.ears, self._microphone).value,
            "why": "",
            "attempt": 0,
            "attemptsMax": 0,
            "inMs": None,
            "queued": [],
            "at": 0,
            "sessionAt": 0,
        }

    def _ready(self) -> Message:
        return {
            "version": 1,
            "server": "fake",
            "language": self.language,
            "agent": self.agent,
            "audio": {"input_hz": 16_000, "output_hz": RATE_HZ, **self.formats},
            "labels": {state: label(state, self.language) for state in PHASES},
            "waits": [label(wait, self.language) for wait in WAITS],
            "limits": {},
            "watchable": self.calls is not None,
        }

    def _conversation(self, resumed: bool) -> Message:
        return {
            "conversation": f"c{self._started}",
            "key": "secret",
            "resumed": resumed,
            "since": "2030-01-01T12:00:00Z",
            "saved": True,
        }

    async def _replay(self, request: Request) -> Response:
        await request.body()
        return JSONResponse(self.replayed)


def state_payload(
    state: str, previous: str = "idle", language: str = "en", cause: str = "StartRequested", at: int = 0
) -> Message:
    return {
        "state": state,
        "previous": previous,
        "previousPhase": previous,
        "localizedLabel": label(state, language),
        "cause": cause,
        "phase": state,
        "at": at,
        "since": "2030-01-01T12:00:00Z",
        "turnId": 1,
        "turnRole": "user",
        "metadata": {"sessionId": "s", "turn": 1, "replyId": 1, "pendingCalls": 0, "retryCount": 0},
    }


drawn = cache(render)


async def _diagram(request: Request) -> Response:
    return Response(drawn(request.path_params["name"]), media_type="image/svg+xml")


async def _empty(_: Request) -> Response:
    return Response("", media_type="text/html")


async def _journal(request: Request) -> Response:
    if request.headers.get("x-conversation-key") != "secret":
        return Response(status_code=403)
    return Response('{"format": "duologue-journal"}\n', media_type="application/x-ndjson")


def _strict(app: ASGIApp) -> ASGIApp:
    """Adds the security policy of the real server to every response. A browser needn't ask for a file again."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                added = ((b"content-security-policy", POLICY.encode()), (b"cache-control", b"max-age=3600"))
                message.setdefault("headers", []).extend(added)
            await send(message)

        await app(scope, receive, with_policy if scope["type"] == "http" else send)

    return wrapped
