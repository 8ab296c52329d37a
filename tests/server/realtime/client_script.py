"""A client of the Realtime protocol without a socket, on the simulated clock.

Rule: every event of both sides is checked with the types of the `openai` package, and a fault of either side fails the
test.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

from duologue.ports.context import CallInfo, Context
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.realtime.call import RealtimeCall
from duologue.server.realtime.client_events import BEGINNING, RefusedEvent, read_event
from duologue.server.realtime.session_config import SessionConfig
from duologue.server.settings import Limits
from duologue.testing.realtime.protocol_types import problems_of_client_event, problems_of_server_event
from tests.server.realtime.tone_agent import silence, tone

WAIT_S = 60.0  # of simulated time
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


class ScriptedClient:
    """One client, and everything that it was sent."""

    def __init__(self, agent: Agent, config: SessionConfig | None = None, limits: Limits | None = None) -> None:
        self.events: list[dict[str, Any]] = []
        self.agent = agent
        self.dropped: list[int] = []
        self._news = asyncio.Event()
        self.call = RealtimeCall(
            agent,
            Context(CallInfo(conversation="0" * 32, line="realtime")),
            limits or Limits(),
            self._take,
            self.dropped.append,
            config=config or SessionConfig(),
        )
        self.call.greet()

    def _take(self, event: dict[str, Any], voice: int) -> None:
        assert problems_of_server_event(event) == []
        self.events.append(event)
        self._news.set()

    # -- Sending

    async def send(self, kind: str, *, is_valid: bool = True, **fields: Any) -> None:
        event = {"type": kind, **fields}
        if is_valid:
            assert problems_of_client_event(event) == []
        try:
            read = read_event(json.dumps(event))
        except RefusedEvent as why:
            self.call.post(why)
            return
        if self.call.conversation is None and isinstance(read, BEGINNING):
            await self.call.begin(lambda conversation: None, read)
        self.call.post(read)
        await asyncio.sleep(0)

    async def configure(self, **session: Any) -> None:
        await self.send("session.update", session={"type": "realtime", **session})

    async def hear(self, pcm: bytes, piece_ms: int = 20, rate_hz: int = 24_000) -> None:
        """Append this sound, as fast as it is spoken."""
        size = rate_hz * piece_ms // 1000 * 2
        for at in range(0, len(pcm), size):
            audio = base64.b64encode(pcm[at : at + size]).decode()
            await self.send("input_audio_buffer.append", audio=audio)
            await asyncio.sleep(piece_ms / 1000)

    async def speak(self, ms: int = 300, quiet_ms: int = 700) -> None:
        """Say something: what it is, the agent's ears know."""
        await self.hear(tone(ms) + silence(quiet_ms))

    async def write(self, text: str, **item: Any) -> None:
        content = [{"type": "input_text", "text": text}]
        await self.send(
            "conversation.item.create", item={"type": "message", "role": "user", "content": content, **item}
        )

    # -- Waiting

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    async def expect(self, kind: str, after: int = 0) -> dict[str, Any]:
        """The first event of this kind, or the first after so many."""
        try:
            async with asyncio.timeout(WAIT_S):
                while len(self.told(kind)) <= after:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never: {kind}; {self.kinds()[-12:]}") from None
        return self.told(kind)[after]

    async def done(self, after: int = 0) -> dict[str, Any]:
        """The response that is done."""
        event = await self.expect("response.done", after)
        response: dict[str, Any] = event["response"]
        return response

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def errors(self) -> list[str]:
        return [event["error"]["code"] for event in self.told("error")]

    def sound_ms(self, item_id: str) -> int:
        """How much sound of this item was sent."""
        deltas = [one["delta"] for one in self.told("response.output_audio.delta") if one["item_id"] == item_id]
        return sum(len(base64.b64decode(delta)) for delta in deltas) // 48


def play(script: Callable[[ScriptedClient], Awaitable[None]], agent: Agent, **more: Any) -> ScriptedClient:
    """Run a script with a client, in simulated time. Returns the client."""

    async def whole() -> ScriptedClient:
        client = ScriptedClient(agent, **more)
        try:
            await script(client)
        finally:
            await client.call.end("hung up")
        return client

    return run_simulated(whole())


def words_of(response: dict[str, Any]) -> str:
    """The words of a response."""
    contents = [part for item in response["output"] for part in item.get("content", ())]
    return " ".join(part.get("transcript") or part.get("text") or "" for part in contents)
