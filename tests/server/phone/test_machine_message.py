"""The message for an answering machine is said to its end, and nothing interrupts it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from duologue.lab.sim.offline_call import OfflineCall
from duologue.ports.sound import Sound
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.phone.machine_message import KeptLine, leave_message, message_agent
from duologue.voice.scripted import ScriptedVoice

MESSAGE = "Hello Ann, your book is here. Goodbye."


class BrokenVoice:
    async def speak(self, text: str) -> AsyncIterator[Sound]:
        raise OSError("no voice")
        yield Sound(0)


def agent_with(voice: object) -> Agent:
    return Agent(lambda request: "?", name="desk", voice=voice, phrases=Phrases(greeting="Hello, this is the desk."))  # type: ignore[arg-type]


def left(voice: object, hangs_up_ms: int = 0, speaks: bool = False) -> tuple[bool, OfflineCall, Conversation]:
    async def run() -> tuple[bool, OfflineCall, Conversation]:
        call = OfflineCall()
        line = await call.connect()
        conversation = Conversation(message_agent(agent_with(voice), MESSAGE), KeptLine(line))
        leaving = asyncio.ensure_future(leave_message(conversation))
        if hangs_up_ms:
            await asyncio.sleep(hangs_up_ms / 1000)
            call.carrier.hang_up()
            line.hung_up()
        if speaks:
            await asyncio.sleep(0.5)
            call.carrier.speak(b"\x00" * 8_000)
        return await leaving, call, conversation

    return run_simulated(run())


def test_the_whole_message_is_heard_and_the_line_stays_for_the_call() -> None:
    is_left, call, conversation = left(ScriptedVoice(char_ms=50))
    assert is_left
    assert [item.text for item in conversation.history] == [MESSAGE]  # type: ignore[union-attr]
    assert call.carrier.played_ms >= 50 * len(MESSAGE.split())
    assert not call.is_hung_up, "the call hangs up, after it has noted how it went"


def test_sound_of_the_machine_does_not_interrupt_it() -> None:
    assert left(ScriptedVoice(char_ms=50), speaks=True)[0]


def test_a_machine_that_hangs_up_has_no_whole_message() -> None:
    assert not left(ScriptedVoice(char_ms=50), hangs_up_ms=600)[0]


def test_a_voice_that_fails_leaves_no_message() -> None:
    assert not left(BrokenVoice())[0]


def test_the_agent_of_the_message_has_the_voice_and_the_language_of_the_agent() -> None:
    agent = agent_with(ScriptedVoice())
    made = message_agent(agent, MESSAGE)
    assert (made.voice, made.language, made.name, made.ears) == (agent.voice, agent.language, "desk message", None)
