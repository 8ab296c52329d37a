"""An RTVI client without a socket, on the simulated clock: it keeps its messages, and when it got which sound.

Rule: every message of the server is checked with what the protocol's clients expect of its type.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from duologue.lines.browser import BrowserLine
from duologue.ports.context import CallInfo, Context
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.close_codes import CloseCode
from duologue.server.conversations import Conversations
from duologue.server.rtvi.call import RtviCall
from duologue.server.rtvi.incoming import read_message
from duologue.server.rtvi.paced_player import PacedPlayer
from duologue.server.rtvi.refusal import MessageRefused
from duologue.server.settings import ServerSettings
from tests.server.realtime.tone_agent import silence, tone
from tests.server.rtvi.message_types import problems_of_message

WAIT_S = 60.0  # of simulated time


class ScriptedRtviClient:
    """One client, its carrier and its line."""

    def __init__(self, agent: Agent, settings: ServerSettings | None = None) -> None:
        self.agent = agent
        self.messages: list[dict[str, Any]] = []
        self.sound: list[tuple[float, int]] = []  # when it came, and its milliseconds
        self.drops = 0
        self.closed: CloseCode | None = None
        self._news = asyncio.Event()
        self.settings = settings or ServerSettings()
        self.conversations = Conversations(agent, self.settings)
        self.line = BrowserLine()
        context: Context[Any] = Context(CallInfo(conversation="0" * 32, line="rtvi"))
        self.call = RtviCall(agent, context, self.conversations, self.settings, self.line, self)
        self.player = PacedPlayer(self.line, self._take_sound, self.call.note_words)
        self.line.attach(self.player)

    # -- The carrier

    def send_message(self, message: dict[str, Any]) -> None:
        assert problems_of_message(message) == []
        self.messages.append(json.loads(json.dumps(message)))
        self._news.set()

    def drop_sound(self) -> None:
        self.drops += 1

    def disconnect(self, code: CloseCode) -> None:
        self.closed = code
        self._news.set()

    def _take_sound(self, pcm: bytes) -> None:
        self.sound.append((asyncio.get_running_loop().time(), len(pcm) // 48))

    # -- Sending

    def send(self, kind: str, data: Any = None, id_: str = "m1") -> None:
        message = {"label": "rtvi-ai", "type": kind, "id": id_, "data": data}
        try:
            self.call.post(read_message(json.dumps(message)))
        except MessageRefused as why:
            self.call.post(why)

    async def connect(self, version: str = "2.1.0") -> dict[str, Any]:
        self.send("client-ready", {"version": version, "about": {"library": "a test"}}, "ready")
        return await self.expect("bot-ready")

    async def hear(self, pcm: bytes) -> None:
        """Send this sound at 16 kHz, as fast as it is spoken."""
        for at in range(0, len(pcm), 640):
            if self.call.take_sound(20):
                self.line.hear(pcm[at : at + 640])
            await asyncio.sleep(0.02)

    async def speak(self, ms: int = 300, quiet_ms: int = 700) -> None:
        await self.hear(tone(ms, 16_000) + silence(quiet_ms, 16_000))

    # -- Waiting

    def told(self, kind: str) -> list[Any]:
        """The data of the messages of this type."""
        return [message.get("data") for message in self.messages if message["type"] == kind]

    def kinds(self) -> list[str]:
        return [message["type"] for message in self.messages]

    async def expect(self, kind: str, after: int = 0) -> Any:
        """The data of the first message of this type, or of the first after so many."""
        try:
            async with asyncio.timeout(WAIT_S):
                while len(self.told(kind)) <= after:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never: {kind}; {self.kinds()[-12:]}") from None
        return self.told(kind)[after]

    async def expect_closed(self) -> CloseCode:
        async with asyncio.timeout(WAIT_S):
            while self.closed is None:
                self._news.clear()
                await self._news.wait()
        return self.closed


def play(script: Callable[[ScriptedRtviClient], Awaitable[None]], agent: Agent, **more: Any) -> ScriptedRtviClient:
    """Run a script with a client, in simulated time. Returns the client."""

    async def whole() -> ScriptedRtviClient:
        client = ScriptedRtviClient(agent, **more)
        try:
            await script(client)
        finally:
            client.player.close()
            await client.call.end("hung up")
        return client

    return run_simulated(whole())
