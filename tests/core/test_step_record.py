"""Steps that only record how much of the agent's sound was heard."""

from __future__ import annotations

import asyncio

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.events import PlaybackProgressed
from duologue.core.state import State
from duologue.core.step_record import StepRecord
from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing.person import Person
from duologue.voice.scripted import ScriptedVoice

HEARD = {"at", "heard_ms", "cues", "sign_at", "due"}  # what a report of playback may change


async def _call() -> list[StepRecord]:
    """All steps of a call with several answers. Two of them are interrupted, and a line is lost during one."""
    ears, line, seen = ScriptedEars(), ScriptedLine(), list[StepRecord]()
    brain = ScriptedBrain(otherwise="It is sunny today. Is there anything else that I can do for you?", token_ms=30)
    conversation = Conversation(Agent(brain, ears=ears, voice=ScriptedVoice(chunk_ms=100)), line, seats=Seats())
    conversation.engine.watchers.append(seen.append)
    await conversation.start()
    person = Person(ears, line)
    for wait_s in (8, 2, 8, 3, 8):
        await person.say("and what about the day after tomorrow")
        await asyncio.sleep(wait_s)
    conversation.type("one more")
    await asyncio.sleep(2)
    line.drop()
    await asyncio.sleep(20)
    await conversation.end()
    return seen


@pytest.fixture(scope="module")
def records() -> list[StepRecord]:
    return run_simulated(_call())


def changed(record: StepRecord) -> set[str]:
    fields = zip(State._fields, record.before, record.after, strict=True)
    return {name for name, before, after in fields if before != after}


def test_a_step_that_is_only_progress_changes_nothing_but_what_was_heard(records: list[StepRecord]) -> None:
    progress = [record for record in records if record.is_only_progress]
    assert len(progress) > 100
    for record in progress:
        assert type(record.event) is PlaybackProgressed
        assert "heard_ms" in changed(record) <= HEARD, record


def test_a_step_that_does_more_or_nothing_is_not_only_progress(records: list[StepRecord]) -> None:
    others = [record for record in records if not record.is_only_progress]
    assert any(record.effects for record in others)
    for record in others:
        is_report = type(record.event) is PlaybackProgressed
        assert not is_report or record.after is record.before or record.effects or not changed(record) <= HEARD
