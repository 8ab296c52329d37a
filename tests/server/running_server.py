"""A server on a real socket, and clients that play all sound at once.

Rule: no fixed sleeps. A test waits for a condition, and fails with its name after a while.
"""

from __future__ import annotations

import asyncio
import json
import struct
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duologue.core.settings import Settings, profile
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports.ears import Final, SpeechBegan, SpeechEnded
from duologue.runtime.agent import Agent
from duologue.server.app import Server
from duologue.server.listening import bind_socket
from duologue.server.run import serving
from duologue.server.settings import Limits, ServerSettings, many_at_one_address
from duologue.server.siblings import ALONE, Siblings
from duologue.testing import ScriptedBrain, ScriptedEars, ScriptedVoice
from tests.limits import TEST_S, WAIT_S

OWN = (
    "context_query",
    "context_headers",
    "dev",
    "token",
    "operator_token",
    "ticket_key",
    "origins",
    "journals",
    "watchable",
    "tells_watched",
    "public",
    "trusted_proxies",
    "webrtc",
    "opus",
)
CUE = 2  # the kind of a frame with sound of a cue
HEADER = struct.Struct("<BBHII")


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """One client. With `plays`, it reports all sound as heard the moment it arrives."""

    def __init__(self, socket: ClientConnection, plays: bool) -> None:
        self.socket = socket
        self.plays = plays
        self.messages: list[dict[str, Any]] = []
        self.frames: list[tuple[int, int, bytes]] = []
        self.cues: list[tuple[int, bytes]] = []  # the number and the sound of each frame of a cue
        self.heard_ms: dict[int, int] = {}
        self.closed: tuple[int, str] | None = None
        self.raw: list[str | bytes] = []
        self._news = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        try:
            async for frame in self.socket:
                self.raw.append(frame)
                if isinstance(frame, str):
                    await self._take(json.loads(frame, parse_constant=_refuse))
                else:
                    await self._hear(frame)
                self._news.set()
        except ConnectionClosed:
            pass
        close = self.socket.close_code, self.socket.close_reason
        self.closed = (close[0] or 1006, close[1] or "")
        self._news.set()

    async def _take(self, told: dict[str, Any]) -> None:
        self.messages.append(told)
        payload = told["payload"]
        if self.plays and told["type"] == "duologue.play":
            heard_ms = self.heard_ms.get(payload["voice"], 0)
            if payload["action"] == "finish":
                await self.send("finished", voice=payload["voice"], ms=heard_ms)
            elif payload["action"] == "clear":
                await self.send("stopped", voice=payload["voice"], ms=heard_ms)
            elif payload["action"] == "begin":
                self.heard_ms[payload["voice"]] = payload["ms"]

    async def _hear(self, frame: bytes) -> None:
        kind, _, _, voice, chunk = HEADER.unpack(frame[:12])
        if kind == CUE:
            self.cues.append((voice, frame[12:]))  # nothing is reported about a cue
            return
        assert kind == 1
        self.frames.append((voice, chunk, frame[12:]))
        self.heard_ms[voice] = self.heard_ms.get(voice, 0) + len(frame[12:]) // 48
        if self.plays:
            await self.send("played", voice=voice, ms=self.heard_ms[voice])

    # -- Saying something

    async def send(self, kind: str, **payload: Any) -> None:
        await self.raw_send(json.dumps({"type": kind, "payload": payload}))

    async def raw_send(self, data: str | bytes) -> None:
        with suppress(ConnectionClosed):
            await self.socket.send(data)

    async def hello(self, seat: str, **more: Any) -> None:
        await self.send("hello", version=1, seat=seat, **more)

    async def begin(self, seat: str, **more: Any) -> dict[str, Any]:
        """Hello and start, until it listens. Returns the conversation's id and key."""
        await self.hello(seat, **more)
        await self.send("start")
        return await self.until_listening()

    async def until_listening(self) -> dict[str, Any]:
        told = await self.expect("conversation")
        await self.expect("state", state="listening")
        return told

    # -- Waiting for something

    def told(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        wanted = f"duologue.{kind}"
        return [
            told["payload"]
            for told in self.messages
            if told["type"] == wanted and all(told["payload"].get(name) == value for name, value in fields.items())
        ]

    async def expect(self, kind: str, after: int = 0, **fields: Any) -> dict[str, Any]:
        """The first of this kind, or the first after so many."""
        await self.until(lambda: len(self.told(kind, **fields)) > after, f"{kind} {fields}")
        return self.told(kind, **fields)[after]

    async def until(self, holds: Callable[[], bool], what: str = "") -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                while not holds():
                    if self.closed is not None:
                        raise AssertionError(f"closed with {self.closed} before {what}: {self.messages[-5:]}")
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never: {what}; {self.messages[-8:]}") from None

    async def gone(self) -> tuple[int, str]:
        """The close code and the reason."""
        await asyncio.wait_for(self._reading, WAIT_S)
        assert self.closed is not None
        return self.closed

    async def close(self) -> None:
        await self.socket.close()
        await asyncio.wait([self._reading], timeout=WAIT_S)

    def vanish(self) -> None:
        """Disconnect with a TCP reset instead of a close frame."""
        self.socket.transport.abort()

    @property
    def heard(self) -> str:
        """All answers that were heard to their end."""
        return " ".join(told["text"] for told in self.told("caption", role="assistant", final=True))


def _refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is not JSON")


class RunningServer:
    """A running server and its clients."""

    def __init__(self, server: Server, port: int, agents: list[Agent]) -> None:
        self.server = server
        self.conversations = server.conversations
        self.port = port
        self.agents = agents
        self.clients: list[Client] = []

    async def connect(
        self, *, plays: bool = True, path: str = "/ws", kind: type[Client] = Client, **more: Any
    ) -> Client:
        socket = await connect(
            f"ws://127.0.0.1:{self.port}{path}", compression=None, max_size=1 << 24, ping_interval=None, **more
        )
        client = kind(socket, plays)
        self.clients.append(client)
        return client

    async def get(self, path: str, data: bytes | None = None, **headers: str) -> Answer:
        return await asyncio.to_thread(_fetch, f"http://127.0.0.1:{self.port}{path}", data, headers)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for a condition of the server, by polling: it sends no event for it."""
        async with asyncio.timeout(WAIT_S):
            while not holds():
                await asyncio.sleep(0.005)

    async def say(self, text: str, nth: int = -1) -> None:
        """A spoken turn in the newest conversation."""
        ears = self.agents[nth].ears
        assert isinstance(ears, ScriptedEars)
        ears.tell(SpeechBegan(1))
        ears.tell(SpeechEnded(1))
        ears.tell(Final(text, 0.9, 1))


def _fetch(url: str, data: bytes | None, headers: dict[str, str]) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data, named)
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return Answer(answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read())
    except urllib.error.HTTPError as answer:
        return Answer(answer.code, {k.lower(): v for k, v in answer.headers.items()}, answer.read())


def agent_that_says(script: Any = None, **more: Any) -> Callable[[], Agent]:
    def make() -> Agent:
        brain = ScriptedBrain(script if script is not None else (lambda request: f"You said {request.text}."))
        return Agent(brain, ears=ScriptedEars(), voice=ScriptedVoice(), **more)

    return make


Script = Callable[[RunningServer], Awaitable[None]]


def serve(
    script: Script,
    make: Callable[[], Agent] | None = None,
    *,
    token: str = "",
    origins: tuple[str, ...] = (),
    journals: Path | None = None,
    watchable: bool = True,
    dev: bool = False,
    secrets: Mapping[str, Any] | None = None,
    **limits: Any,
) -> RunningServer:
    """Run a script against a server, then stop the server."""

    async def whole() -> RunningServer:
        async with running_server(
            make,
            token=token,
            origins=origins,
            journals=journals,
            watchable=watchable,
            dev=dev,
            **(secrets or {}),
            **limits,
        ) as made:
            await script(made)
            return made

    return run_jumping(asyncio.wait_for(whole(), TEST_S))


@asynccontextmanager
async def running_server(make: Callable[[], Agent] | None = None, **given: Any) -> AsyncIterator[RunningServer]:
    agents: list[Agent] = []
    chosen = make or agent_that_says()

    def remember() -> Agent:
        agents.append(chosen())
        return agents[-1]

    siblings: Siblings = given.pop("siblings", ALONE)
    own = {name: given.pop(name) for name in OWN if name in given}
    limits = replace(many_at_one_address(Limits(drain_s_max=0.05, wrong_token_s_max=0.01), 1_000), **given)
    listening = bind_socket("127.0.0.1", 0)
    server = Server(remember, ServerSettings(port=0, limits=limits, **own), siblings=siblings)
    made = RunningServer(server, listening.getsockname()[1], agents)
    async with serving(server, listening):
        try:
            yield made
        finally:
            await asyncio.gather(*(client.close() for client in made.clients), return_exceptions=True)
            await server.conversations.drain()


async def talk(client: Client, text: str, after: int = 0) -> str:
    await client.send("type", text=text)
    told = await client.expect("caption", after=after, role="assistant", final=True)
    text_heard: str = told["text"]
    return text_heard


def quick_to_give_up() -> Settings:
    return replace(
        profile("confirm"),
        heal_ms_max=50, backoff_ms=(10,), connect_ms_max=100, reconnect_ms_max=200, dismiss_ms=50,
        prepare_ms_max=100, dead_air_ms=0,
    )  # fmt: skip
