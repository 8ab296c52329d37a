"""The steps of one short call on the simulated clock: a typed turn, and an answer after 300 ms."""

from __future__ import annotations

import asyncio

from duologue.core.step_record import StepRecord
from duologue.lines.scripted import ScriptedLine
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import Delay, ScriptedBrain, ScriptedVoice


def steps_of_a_call(agent: Agent) -> list[StepRecord]:
    records: list[StepRecord] = []

    async def call() -> None:
        conversation = Conversation(agent, ScriptedLine())
        conversation.engine.watchers.append(records.append)
        await conversation.start()
        conversation.type("what is the weather like?")
        await asyncio.sleep(10)
        await conversation.end("done")

    run_simulated(call())
    return records


def agent_that_answers() -> Agent:
    return Agent(ScriptedBrain([[Delay(300), "It rains.", "Take an umbrella."]]), voice=ScriptedVoice())
