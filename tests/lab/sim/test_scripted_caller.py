"""A caller who follows a script: what it does, and what it reports."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.lab.sim.call_script import CallScript, PlayWav, Say, read_script
from duologue.lab.sim.offline_call import OfflineCall
from duologue.lab.sim.scripted_caller import NotAsExpected, ScriptedCaller
from duologue.lines.phone.carriers import CARRIERS, Carrier
from duologue.lines.phone.digits import Digits
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.scripted import ScriptedVoice


async def no_sound(step: Say | PlayWav) -> bytes:
    return b"\xff" * 1_600


def play(script: CallScript, carrier: Carrier = CARRIERS["twilio"]) -> list[str]:
    async def call() -> list[str]:
        exchange = OfflineCall(carrier)
        line = await exchange.connect()
        agent = Agent(
            ScriptedBrain(otherwise="Thank you for calling."),
            voice=ScriptedVoice(),
            profile="words",
            phrases=Phrases(greeting="Good morning."),
        )
        conversation = Conversation(agent, line, seats=Seats())
        line.pressed = Digits(conversation.type).press
        await conversation.start()
        caller = ScriptedCaller(exchange.carrier, lambda: conversation, no_sound, script.wait_s)
        try:
            await caller.play(script)
            return caller.done
        finally:
            exchange.carrier.hang_up()
            await asyncio.wait_for(conversation.wait(), 60)

    return run_simulated(call())


def test_a_caller_does_what_the_script_says() -> None:
    steps: list[Any] = [
        "listen",
        {"expect": {"said": "good morning"}},
        {"dtmf": "12#"},
        {"expect": {"heard": "12", "interrupted": False}},
        {"hear": 500},
        {"dtmf": "3#"},
        {"expect": {"interrupted": True}},
        "listen",
        {"say": "a noise without words"},
        {"pause": 100},
        "hang_up",
    ]
    assert len(play(read_script({"steps": steps}))) == len(steps)


def test_an_agent_that_hangs_up_is_noticed() -> None:
    assert play(read_script({"steps": ["listen", {"expect": {"over": True}}], "wait_s": 120})) == ["Listen", "Expect"]


def test_a_step_that_does_not_happen_is_named() -> None:
    script = read_script({"steps": ["listen", {"expect": {"heard": "abracadabra"}}], "wait_s": 5})
    with pytest.raises(NotAsExpected, match=r"step 2 \(expect heard 'abracadabra'\)"):
        play(script)
