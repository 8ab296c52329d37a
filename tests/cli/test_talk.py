"""`duologue talk`: the agent that it uses."""

from __future__ import annotations

import asyncio

import pytest

from duologue import Agent
from duologue.cli.talk import repeat, with_speech
from duologue.ears.scripted import ScriptedEars
from duologue.ports import Request
from duologue.voice.scripted import ScriptedVoice


def test_the_built_in_agent_repeats_what_the_user_said() -> None:
    async def run() -> list[object]:
        return [part async for part in repeat(Request(1, "good morning"))]

    assert asyncio.run(run()) == ["You said: good morning"]


def test_an_agents_own_ears_and_voice_are_kept() -> None:
    pytest.importorskip("numpy", reason="pip install 'duologue[speech]'")
    agent = Agent(repeat, ears=ScriptedEars(), voice=ScriptedVoice())
    with_them = with_speech(agent)
    assert (with_them.ears, with_them.voice) == (agent.ears, agent.voice)


def test_an_agent_without_a_voice_gets_a_local_one() -> None:
    pytest.importorskip("numpy", reason="pip install 'duologue[speech]'")
    assert type(with_speech(Agent(repeat, ears=ScriptedEars())).voice).__name__ == "LocalVoice"
