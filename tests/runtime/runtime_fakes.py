"""A conversation on a simulated clock with every service in a test's own hand.

Unlike `duologue.testing.Call`, nothing is replaced: a test gives its own ears, line and session. Rule:
whatever a test plays, the conversation is ended afterwards, in bounded simulated time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from duologue.core.step_record import StepRecord
from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from duologue.ports.history import AgentSaid, CallOutput, News, UserSaid
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.scripted import ScriptedVoice
from duologue.workers.scripted import scripted_tool

SCENE_S_MAX = 3_600


class Stage:
    """One conversation, its services, and everything that it told."""

    def __init__(self, agent: Agent, line: Any, seats: Seats, seat: str, journal: Path | None) -> None:
        self.agent = agent
        self.line = line
        self.seats = seats
        self.conversation = Conversation(agent, line, seat=seat, seats=seats, journal=journal, conversation_id="test")
        self.signals: list[sg.Signal] = []
        self.records: list[StepRecord] = []
        self.conversation.on(sg.Signal, self.signals.append)
        self.conversation.engine.watchers.append(self.records.append)
        self.utterance = 0

    @property
    def ears(self) -> ScriptedEars:
        assert isinstance(self.agent.ears, ScriptedEars)
        return self.agent.ears

    async def say(self, text: str, word_ms: int = 200, confidence: float = 0.9) -> None:
        """Say this and wait until the turn is over."""
        await self.begin(text, word_ms)
        self.ears.tell(SpeechEnded(self.utterance))
        await asyncio.sleep(0.1)
        self.ears.tell(Final(text, confidence, self.utterance))
        await asyncio.sleep(0.5)

    async def begin(self, text: str, word_ms: int = 200) -> None:
        """Say this and go on making a sound."""
        self.utterance += 1
        self.ears.tell(SpeechBegan(self.utterance))
        words = text.split()
        for count in range(1, len(words) + 1):
            await asyncio.sleep(word_ms / 1000)
            self.ears.tell(Partial(" ".join(words[:count]), 0.9, self.utterance))
        await asyncio.sleep(0.01)

    async def sleep(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000)

    async def until(self, holds: Callable[[], bool], limit_s: float = 120.0) -> None:
        """Let time pass in small steps until this holds."""
        async with asyncio.timeout(limit_s):
            while not holds():
                await asyncio.sleep(0.01)

    async def rest(self, limit_s: float = 120.0) -> None:
        """Wait until neither side speaks and no answer is pending."""
        await asyncio.sleep(0.01)
        await self.until(lambda: self.state in ("listening", "idle") and not self.owes, limit_s)

    def told(self, kind: type[Any]) -> list[Any]:
        return [signal for signal in self.signals if isinstance(signal, kind)]

    @property
    def state(self) -> str:
        return self.conversation.view("conversation").state

    @property
    def owes(self) -> bool:
        s = self.conversation.machine_state
        return s.said > s.answered or s.news or s.user.value != "quiet"

    @property
    def now_ms(self) -> int:
        return self.conversation.engine.driver.now()

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

    @property
    def lost(self) -> list[str]:
        return [text for signal in self.told(sg.Lost) for text in signal.texts]

    @property
    def problems(self) -> list[str]:
        return [f"{signal.where}: {signal.what}" for signal in self.told(sg.Problem)]


Script = Callable[[Stage], Awaitable[Any]]


def play(
    script: Script,
    brain: Any,
    *,
    line: Any = None,
    seats: Seats | None = None,
    seat: str = "",
    journal: Path | None = None,
    start: bool = True,
    **agent: Any,
) -> Stage:
    """Run a scene to its end, then end the conversation. Returns the stage to look at."""

    async def whole() -> Stage:
        async with asyncio.timeout(SCENE_S_MAX):
            agent.setdefault("ears", ScriptedEars())
            agent.setdefault("voice", ScriptedVoice())
            made = Agent(brain, **agent)
            stage = Stage(made, line or ScriptedLine(), seats if seats is not None else Seats(), seat, journal)
            if start:
                await stage.conversation.start()
            await script(stage)
            await stage.conversation.end("the test is over")
            return stage

    return run_simulated(whole())


def others() -> list[str]:
    """Names of the tasks that run besides the test's own."""
    mine = asyncio.current_task()
    return [task.get_name() for task in asyncio.all_tasks() if task is not mine and not task.done()]


def task_called(name: str) -> asyncio.Task[Any]:
    """The one running task whose name starts so."""
    found = [task for task in asyncio.all_tasks() if task.get_name().startswith(name) and not task.done()]
    assert len(found) == 1, f"{name}: {[task.get_name() for task in asyncio.all_tasks()]}"
    return found[0]


async def swallow(seconds: float) -> None:
    """Sleep so deep that no cancel wakes it."""
    ends_at = asyncio.get_running_loop().time() + seconds
    while (left := ends_at - asyncio.get_running_loop().time()) > 0:
        try:
            await asyncio.sleep(left)
        except asyncio.CancelledError:
            continue


class Stubborn:
    """A worker that does not hear a cancel."""

    def __init__(self, seconds: float) -> None:
        self.tool = scripted_tool("stubborn").tool
        self.seconds = seconds

    async def run(self, arguments: dict[str, Any], job: Any) -> object:
        await swallow(self.seconds)
        return "at last"
