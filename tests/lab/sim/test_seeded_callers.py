"""Seeded callers: drawn from dice before the call, and what their acts do."""

from __future__ import annotations

import random

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.leaves import Link
from duologue.ears.scripted import ScriptedEars
from duologue.lab.sim.seeded_callers import CallerAct, SeededCaller, draw_acts
from duologue.lines.scripted import ScriptedLine
from duologue.ports.history import UserSaid
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing.person import Person
from duologue.voice.scripted import ScriptedVoice


def test_the_same_dice_draw_the_same_acts() -> None:
    assert draw_acts(random.Random(4), True) == draw_acts(random.Random(4), True)
    assert draw_acts(random.Random(4), True) != draw_acts(random.Random(5), True)


def test_the_line_is_lost_only_with_troubles() -> None:
    def drawn(troubles: bool) -> set[str]:
        return {act.what for seed in range(200) for act in draw_acts(random.Random(seed), troubles)}

    assert drawn(True) - drawn(False) == {"wobble", "drop", "reconnect", "retry", "dismiss"}


def called(*acts: CallerAct) -> tuple[SeededCaller, Conversation]:
    async def call() -> tuple[SeededCaller, Conversation]:
        ears, line = ScriptedEars(), ScriptedLine()
        agent = Agent(ScriptedBrain(otherwise="Certainly."), voice=ScriptedVoice(), ears=ears)
        conversation = Conversation(agent, line, seats=Seats())
        await conversation.start()
        caller = SeededCaller(Person(ears, line), conversation, list(acts))
        await caller.run()
        await conversation.end("test")
        return caller, conversation

    return run_simulated(call())


@pytest.mark.parametrize("what", ["say", "backchannel", "interrupt", "type", "button"])
def test_what_a_caller_says_is_in_the_history(what: str) -> None:
    caller, conversation = called(
        CallerAct(what, 10, "could you look up the next train"), CallerAct("silence", 0, ms=9_000)
    )
    assert caller.said == ["could you look up the next train"]
    assert [item.text for item in conversation.history if isinstance(item, UserSaid)] == caller.said


def test_a_cough_is_not_in_the_history() -> None:
    caller, conversation = called(CallerAct("cough", 10, ms=300), CallerAct("silence", 0, ms=9_000))
    assert caller.said == []
    assert not [item for item in conversation.history if isinstance(item, UserSaid)]


def test_a_caller_does_nothing_after_hanging_up() -> None:
    caller, conversation = called(
        CallerAct("hang up", 10), CallerAct("silence", 0, ms=60_000), CallerAct("say", 10, "hello")
    )
    assert caller.said == []
    assert conversation.machine_state.link is Link.IDLE


@pytest.mark.parametrize("what", ["stop", "reconnect", "retry", "dismiss", "pause", "cancel", "wobble", "drop"])
def test_a_call_goes_on_after_each_act(what: str) -> None:
    caller, conversation = called(
        CallerAct(what, 10, ms=500), CallerAct("silence", 0, ms=30_000), CallerAct("type", 0, "hello")
    )
    assert caller.said == ["hello"]
    assert [item.text for item in conversation.history if isinstance(item, UserSaid)] == ["hello"]
