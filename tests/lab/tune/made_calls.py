"""Short calls that are recorded with their ear journals, on the simulated clock.

Rule: the user's script says when the voice begins and ends, to the millisecond.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from duologue.ears.scripted import ScriptedEars
from duologue.hearing.policy import HearingPolicy
from duologue.lab.tune.calls import RecordedCall, read_call
from duologue.lab.tune.pauses import DecidedCall, decide
from duologue.lines.scripted import ScriptedLine
from duologue.ports.ears import Final, SpeechBegan, SpeechEnded, VoiceFrame
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import ScriptedBrain, ScriptedVoice
from duologue.turns.endpoint import FixedSilence

ANSWER = "That is a very long answer, and it takes the agent some seconds to say it."


class Caller:
    """The user of a made-up call, and the conversation that is recorded."""

    def __init__(self, ears: ScriptedEars, conversation: Conversation) -> None:
        self.ears = ears
        self.conversation = conversation
        self.utterance = 0

    async def wait(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000)

    async def say(self, text: str, ms: int = 600) -> None:
        """The final text comes with the end of the voice."""
        self.begin()
        await self.wait(ms)
        self.end(text)

    def begin(self) -> None:
        self.utterance += 1
        self.ears.tell(SpeechBegan(self.utterance))

    def end(self, text: str) -> None:
        self.ears.tell(SpeechEnded(self.utterance))
        self.ears.tell(Final(text, 0.95, self.utterance))

    def frame(self, probability: float, quiet_ms: int, energy: float = 0.2) -> None:
        self.ears.tell(VoiceFrame(probability, energy, 32, quiet_ms, self.utterance))


def record(
    path: Path, act: Callable[[Caller], Awaitable[None]], silence_ms: int = 700, thinks_ms: int = 300, **given: Any
) -> RecordedCall:
    """Record a call in which the user acts like this. The agent needs `thinks_ms` for an answer."""

    async def call() -> None:
        ears = ScriptedEars()
        given.setdefault("endpoint", FixedSilence(silence_ms))
        agent = Agent(
            ScriptedBrain(lambda request: ANSWER), voice=ScriptedVoice(first_ms=thinks_ms), ears=ears, **given
        )
        conversation = Conversation(agent, ScriptedLine(), journal=path)
        await conversation.start()
        await asyncio.sleep(1)
        await act(Caller(ears, conversation))
        await conversation.end()

    run_simulated(call())
    return read_call(path)


def decide_by_silence(call: RecordedCall, ms: int) -> DecidedCall:
    """The call with a fixed silence of this length."""
    return decide_with(call, replace(call.policy, endpoint=FixedSilence(ms)))


def decide_with(call: RecordedCall, policy: HearingPolicy) -> DecidedCall:
    return decide(call.journal, call.records, call.ears, policy)
