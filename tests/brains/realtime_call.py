"""A whole conversation over the Realtime protocol, in real time, with a scripted server on a local port.

Rule: nothing here sleeps for a fixed time; everything waits for what has to happen, with a generous limit.
"""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from duologue import Agent, Conversation, Phrases, profile
from duologue.brains.realtime import RealtimeModel, RealtimeSettings
from duologue.core.leaves import Link
from duologue.core.step_record import StepRecord
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import AgentSaid, CallOutput, Frame, News, UserSaid
from duologue.runtime.seats import Seats
from duologue.testing.realtime.server import RealtimeServer
from tests.limits import TEST_S, WAIT_S

QUICK_RETRIES = {"retry_ms": (30, 60, 120)}
QUIET = {"session_ms_max": 0, "session_warning_ms": 0, "dead_air_ms": 0, "backoff_ms": (50, 200, 500)}


class RealtimeCall:
    """The conversation, its server, and every signal and step that was recorded."""

    def __init__(self, server: RealtimeServer, model: RealtimeModel, agent: Agent, journal: Path | None) -> None:
        self.server = server
        self.model = model
        self.line = ScriptedLine(ack_ms=20)
        self.conversation = Conversation(agent, self.line, seats=Seats(), journal=journal)
        self.signals: list[sg.Signal] = []
        self.records: list[StepRecord] = []
        self.conversation.on(sg.Signal, self.signals.append)
        self.conversation.engine.watchers.append(self.records.append)

    async def until(self, holds: Callable[[], object], limit_s: float = WAIT_S) -> None:
        """Wait until this holds, looking every few milliseconds."""
        async with asyncio.timeout(limit_s):
            while not holds():
                await asyncio.sleep(0.005)

    async def rests(self) -> None:
        """Wait until neither side speaks and nothing is left to answer."""
        await self.until(self._is_at_rest)

    def _is_at_rest(self) -> bool:
        s = self.conversation.machine_state
        silent = s.reply.value == "none" and s.voice.value == "silent" and s.user.value == "quiet"
        return silent and s.link.value == "up" and s.said == s.answered and not s.news

    # -- What the user does

    def sound(self, ms: int, level: int = 6_000, rate_hz: int = 24_000) -> None:
        """Send this much sound to the line at once; with level 0, silence."""
        count = rate_hz * 20 // 1000
        wave = array("h", (round(level * math.sin(2 * math.pi * 200 * at / rate_hz)) for at in range(count)))
        for _ in range(ms // 20):
            self.line.tell(Frame(wave.tobytes(), rate_hz))

    async def says(self, text: str) -> None:
        """Say something; the server detects it by its energy."""
        self.server.hears.append(text)
        self.sound(300)
        self.sound(600, level=0)
        turn = self.conversation.machine_state.said
        await self.until(lambda: self.conversation.machine_state.said > turn)

    # -- What was heard and done

    @property
    def heard(self) -> list[str]:
        return [item.text for item in self.conversation.history if isinstance(item, AgentSaid) and item.text]

    @property
    def said(self) -> list[str]:
        return [item.text for item in self.conversation.history if isinstance(item, UserSaid)]

    @property
    def outputs(self) -> list[CallOutput]:
        return [item for item in self.conversation.history if isinstance(item, CallOutput)]

    @property
    def news(self) -> list[News]:
        return [item for item in self.conversation.history if isinstance(item, News)]

    def signals_of(self, kind: type[Any]) -> list[Any]:
        return [signal for signal in self.signals if isinstance(signal, kind)]

    @property
    def troubles(self) -> list[str]:
        return [f"{trouble.where}: {trouble.failure!r}" for trouble in self.conversation.engine.failures]


async def ask(call: RealtimeCall) -> None:
    """Type "hello" and wait for the answer."""
    call.conversation.type("hello")
    await call.until(lambda: call.heard)
    await call.rests()


def links(call: RealtimeCall) -> list[Link]:
    """The states of the link, in order, once per visit."""
    moves = [record.after.link for record in call.records if record.after.link is not record.before.link]
    return [link for link in moves if link not in (Link.TERMINATING, Link.IDLE)]


def converse(
    act: Callable[[RealtimeCall], Awaitable[None]],
    server: RealtimeServer | None = None,
    *,
    settings: dict[str, Any] | None = None,
    machine: dict[str, Any] | None = None,
    journal: Path | None = None,
    ears: Any = None,
    **agent: Any,
) -> RealtimeCall:
    """Hold a conversation with this server."""

    async def run() -> RealtimeCall:
        async with asyncio.timeout(TEST_S), server or RealtimeServer() as running:
            model = RealtimeModel(url=running.url, settings=RealtimeSettings(**(settings or {})), ears=ears)
            name = agent.pop("profile", "confirm")
            agent.setdefault("phrases", Phrases())
            made = Agent(model, profile=profile(name, **{**QUIET, **(machine or {})}), **agent)
            call = RealtimeCall(running, model, made, journal)
            try:
                async with call.conversation:
                    await act(call)
            except TimeoutError as late:
                kinds = [event["type"] for event in running.received if "append" not in event["type"]]
                raise AssertionError(
                    f"it never happened; {call.conversation.snapshot()}; {call.troubles}; "
                    f"received {kinds[-30:]}; sent {[event['type'] for event in running.sent][-30:]}; "
                    f"counts {dict(model.counts)}; problems {running.problems}"
                ) from late
            return call

    return run_jumping(run())
