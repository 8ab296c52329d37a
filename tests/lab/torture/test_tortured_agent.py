"""The agent of a torture run: a voice that can be decoded, and a log of every action."""

from __future__ import annotations

import asyncio
import json
from array import array
from pathlib import Path

from duologue.core.leaves import Outcome
from duologue.lab.torture.tortured_agent import CHAR_SAMPLES, ActionLog, LegibleVoice, encode_text, make_agent
from duologue.lines.scripted import ScriptedLine
from duologue.ports.brain import Request
from duologue.ports.history import AgentSaid, CallOutput, UserSaid
from duologue.ports.tool_call import ToolCall
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated


def test_a_voice_says_its_words_with_their_times() -> None:
    async def said() -> list[tuple[str, int]]:
        at, words = 0, []
        async for sound in LegibleVoice().speak("Shall I order 1001?"):
            words += [(word.text, at + word.end_ms) for word in sound.words]
            at += sound.ms
        return words

    assert asyncio.run(said()) == [("Shall", 200), ("I", 280), ("order", 520), ("1001?", 760)]


def test_the_samples_of_a_text_spell_it() -> None:
    samples = array("h")
    samples.frombytes(encode_text("pay 7"))
    assert "".join(chr(sample) for sample in samples[::CHAR_SAMPLES]) == "pay 7"


def logged(file: Path) -> list[tuple[str, str, str]]:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(line["name"], line["item"], line["stage"]) for line in lines]


def test_an_action_is_logged_when_it_begins_and_when_it_is_done(tmp_path: Path) -> None:
    file = tmp_path / "actions.jsonl"

    async def talk() -> None:
        conversation = Conversation(make_agent(ActionLog(file, "a1")), ScriptedLine(), seats=Seats())
        await conversation.start()
        conversation.type("pay 1002")
        await asyncio.sleep(10)
        conversation.type("tell 1003")
        await asyncio.sleep(10)
        await conversation.end()

    run_simulated(talk())
    assert logged(file) == [("pay", "1002", "begun"), ("pay", "1002", "done")]


def test_an_order_is_placed_only_after_it_was_confirmed(tmp_path: Path) -> None:
    file = tmp_path / "actions.jsonl"

    async def talk() -> bool:
        conversation = Conversation(make_agent(ActionLog(file, "a1")), ScriptedLine(), seats=Seats())
        await conversation.start()
        conversation.type("order 1001")
        await asyncio.sleep(10)
        was_early = file.exists()
        conversation.type("yes")
        await asyncio.sleep(10)
        await conversation.end()
        return was_early

    assert not run_simulated(talk())
    assert logged(file) == [("order", "1001", "begun"), ("order", "1001", "done")]


def test_the_output_of_an_earlier_call_does_not_answer_a_later_turn(tmp_path: Path) -> None:
    look, pay = ToolCall("look", {"item": "1001"}), ToolCall("pay", {"item": "1002"})
    said = UserSaid(1, "look 1001"), AgentSaid(1, "", calls=((1, look),)), UserSaid(2, "pay 1002")
    output = CallOutput(1, "been looked up", Outcome.DONE, "look")
    request = Request(2, "pay 1002", (*said, output), outputs=(output,))
    brain = make_agent(ActionLog(tmp_path / "actions.jsonl", "a1")).thinker

    async def answered() -> list[object]:
        return [part async for part in brain.reply(request)]

    assert asyncio.run(answered()) == [pay]
