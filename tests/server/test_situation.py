"""Why the user waits, which attempt is running, and which turns are queued: from the machine's state alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass, Link, Reply
from duologue.core.settings import profile
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.lines.scripted import ScriptedLine
from duologue.ports.line import Closed
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.situation import Situation, situation_after, situation_of
from duologue.testing import Delay, Fail, ScriptedBrain, ScriptedVoice, scripted_tool


def situations(agent: Agent, act: Any = None) -> list[Situation]:
    """The situations of a call in which the user types once, without repeats."""
    found: list[Situation] = [situation_of(initial(agent.settings))]

    def follow(record: StepRecord) -> None:
        now = situation_after(found[-1], record)
        if now != found[-1]:
            found.append(now)

    async def call() -> None:
        line = ScriptedLine()
        conversation = Conversation(agent, line)
        conversation.engine.watchers.append(follow)
        await conversation.start()
        conversation.type("what is the weather like?")
        await asyncio.sleep(1)
        if act is not None:
            await act(conversation, line)
        await asyncio.sleep(30)
        await conversation.end("done")

    run_simulated(call())
    return found


def told(found: list[Situation]) -> list[tuple[str, int, int, bool]]:
    """Why, which attempt of how many, and is it still to begin?"""
    return [(now.why, now.attempt, now.attempts_max, now.until > 0) for now in found if now.why]


@pytest.mark.req("H-11.so")
@pytest.mark.parametrize(
    ("error", "why"), [(ErrorClass.NETWORK_TIMEOUT, "retry"), (ErrorClass.RATE_LIMIT, "rate_limit")]
)
def test_a_retried_answer_says_which_retry_it_is_and_why(error: ErrorClass, why: str) -> None:
    brain = ScriptedBrain([[Fail(error)], [Fail(error)], "It rains."])
    found = situations(Agent(brain, voice=ScriptedVoice()))
    assert told(found) == [(why, 1, 3, True), (why, 1, 3, False), (why, 2, 3, True), (why, 2, 3, False)]
    assert found[-1].why == ""


def test_an_error_that_is_retried_once_says_one_of_one() -> None:
    brain = ScriptedBrain([[Fail(ErrorClass.SERVER_ERROR)], "It rains."])
    assert told(situations(Agent(brain, voice=ScriptedVoice())))[0] == ("retry", 1, 1, True)


@pytest.mark.req("H-11.so")
def test_a_fault_says_when_the_conversation_continues_by_itself() -> None:
    brain = ScriptedBrain([[Fail(ErrorClass.UNKNOWN)]])
    agent = Agent(brain, voice=ScriptedVoice(), profile=profile("confirm", dismiss_ms=10_000))
    found = situations(agent)
    assert told(found) == [("fault", 0, 0, True)]
    assert found[-1].why == ""


def test_a_fault_that_ends_the_conversation_promises_nothing() -> None:
    brain = ScriptedBrain([[Fail(ErrorClass.AUTH_FAILURE)]])
    assert told(situations(Agent(brain, voice=ScriptedVoice()))) == []


def test_words_during_a_tool_are_queued_until_they_are_asked() -> None:
    tool = scripted_tool("look_up", Delay(5_000), "rain")
    brain = ScriptedBrain([[ToolCall("look_up", {})], "It rains."], otherwise="I see.")

    async def say_more(conversation: Conversation, _: ScriptedLine) -> None:
        conversation.type("and tomorrow?")
        await asyncio.sleep(1)

    found = situations(Agent(brain, voice=ScriptedVoice(), tools=[tool]), say_more)
    assert (2, 2) in {(now.queued_first, now.queued_last) for now in found}
    assert found[-1].queued_last == 0


def test_a_first_question_is_never_called_queued() -> None:
    found = situations(Agent(ScriptedBrain(["It rains."]), voice=ScriptedVoice()))
    assert {now.queued_last for now in found} == {0}


@pytest.mark.req("H-11.so", "L-14")
def test_a_lost_line_says_which_attempt_is_next_and_which_is_running() -> None:
    async def lose(_: Conversation, line: ScriptedLine) -> None:
        line.tell(Closed())

    found = situations(Agent(ScriptedBrain(["It rains."]), voice=ScriptedVoice()), lose)
    assert told(found)[:2] == [("reconnecting", 1, 3, True), ("reconnecting", 1, 3, False)]


def test_a_renewal_and_an_unsteady_line_have_no_attempts() -> None:
    for link in (Link.RENEWING, Link.HEALING):
        assert situation_of(initial(profile("confirm"))._replace(link=link))[:4] == (link.value, 0, 0, 0)


def test_while_the_line_is_away_the_retries_of_an_answer_are_not_shown() -> None:
    s = initial(profile("confirm"))._replace(link=Link.RECONNECTING, reply=Reply.WAITING, retries=2, attempts=2)
    assert situation_of(s)[:3] == ("reconnecting", 2, 3)
