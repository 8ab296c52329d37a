"""Another agent takes the conversation: its instructions, tools and greeting, and what it knows of the history."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from duologue import Agent, Context, Phrases, Request, ToolCall, hand_over_to
from duologue.observe import signals as sg
from duologue.ports.context import HandOverRefused
from duologue.ports.history import Note, UserSaid
from duologue.runtime.agent import InvalidAgent
from duologue.testing import Call


def answers(name: str, seen: list[Request] | None = None) -> Any:
    async def brain(request: Request) -> AsyncIterator[Any]:
        if seen is not None:
            seen.append(request)
        if request.text or request.ask.value != "answer":
            yield f"{name} answers {request.text}."
        else:
            yield f"{name} here."

    return brain


def desk(*agents: Agent, **more: Any) -> Agent:
    return Agent(answers("Desk"), name="desk", agents=agents, **more)


def billing(**more: Any) -> Agent:
    return Agent(answers("Billing"), name="billing", **more)


def hands_over(call: Call, to: Any, **how: Any) -> Call:
    call.run(call.context.hand_over(to, **how))
    return call


def test_the_other_agent_greets_and_answers_from_then_on() -> None:
    with Call(desk(billing(phrases=Phrases(greeting="Billing, hello.")))) as call:
        call.user("good morning").expect_heard("Desk answers good morning.")
        hands_over(call, "billing").expect_heard("Billing, hello.")
        call.user("my bill is wrong").expect_heard("Billing answers my bill is wrong.").expect_nothing_lost()
        assert call.context.agent == "billing"
        assert [one.name for one in call.signals if isinstance(one, sg.AgentChanged)] == ["billing"]


def test_an_agent_without_a_greeting_is_asked_to_speak() -> None:
    with Call(desk(billing())) as call:
        call.user("good morning").settles()
        hands_over(call, billing()).expect_heard("Billing here.")


def test_a_brain_hands_over_with_a_tool_and_the_question_is_not_answered_twice() -> None:
    async def brain(request: Request) -> AsyncIterator[Any]:
        if request.text:
            yield "I put you through. "
            yield ToolCall("hand_over", {"to": "billing"})

    second = billing(phrases=Phrases(greeting="Billing, hello."))
    with Call(Agent(brain, name="desk", agents=(second,), tools=[hand_over_to(second)])) as call:
        call.user("my bill is wrong").settles()
        assert call.heard == ["I put you through.", "Billing, hello."]
        call.expect_called("hand_over", to="billing").expect_nothing_lost()


def test_words_at_the_seam_are_answered_once_by_the_new_agent() -> None:
    async def thinks(request: Request) -> AsyncIterator[str]:
        await asyncio.sleep(5)
        yield f"Desk answers {request.text}."

    second = billing(phrases=Phrases(greeting="Billing, hello."))
    with Call(Agent(thinks, name="desk", agents=(second,))) as call:
        call.says("why is it so much")  # complete: the first agent was asked, and nothing of it was heard
        hands_over(call, "billing").settles()
        heard = " ".join(call.heard)
        assert heard.count("why is it so much") == 1
        assert "Billing, hello. Billing answers why is it so much." in heard
        call.expect_nothing_lost()


def test_a_hand_over_in_the_middle_of_an_interruption_loses_nothing() -> None:
    long = Agent(lambda request: "One two three four five six seven eight nine ten.", name="desk", agents=(billing(),))
    with Call(long) as call:
        call.user("tell me something").hears_agent(900)
        call.begins_speaking().partial_text("no stop it please")
        hands_over(call, "billing")
        call.final_text("no stop it please").stops_speaking().settles()
        assert " ".join(call.heard).count("Billing answers no stop it please") == 1
        call.expect_nothing_lost()


def test_the_tools_of_the_other_agent_replace_those_of_the_first() -> None:
    seen: list[Request] = []

    async def refund() -> str:
        """Give the money back."""
        return "done"

    async def greet() -> str:
        """Greet."""
        return "hello"

    second = Agent(answers("Billing", seen), name="billing", tools=[refund], instructions="You do billing.")
    with Call(desk(second, tools=[greet])) as call:
        call.user("good morning").settles()
        hands_over(call, "billing").settles()
        assert [tool.name for tool in seen[0].tools] == ["refund"]
        assert seen[0].instructions == "You do billing."


@pytest.mark.parametrize(("history", "knows"), [("whole", True), ("none", False)])
def test_the_history_goes_along_whole_or_not_at_all(history: Any, knows: bool) -> None:
    seen: list[Request] = []
    with Call(desk(Agent(answers("Billing", seen), name="billing"))) as call:
        call.user("my number is seven").settles()
        hands_over(call, "billing", history=history).settles()
        call.user("and now you").settles()
        said = [item.text for item in seen[-1].history if isinstance(item, UserSaid)]
        assert ("my number is seven" in said) is knows
        assert "and now you" in said


def test_a_summary_stands_for_the_history() -> None:
    seen: list[Request] = []
    with Call(desk(Agent(answers("Billing", seen), name="billing"))) as call:
        call.user("my number is seven").settles()
        hands_over(call, "billing", history="summary").settles()
        notes = [item.text for item in seen[0].history if isinstance(item, Note)]
        assert len(notes) == 1
        assert "seven" in notes[0]


def test_a_hand_over_to_oneself_and_to_an_unknown_agent_are_refused() -> None:
    with Call(desk(billing())) as call:
        call.user("good morning").settles()
        with pytest.raises(HandOverRefused, match="already"):
            hands_over(call, "desk")
        with pytest.raises(HandOverRefused, match=r"'sales'.*known: 'desk', 'billing'"):
            hands_over(call, "sales")


def test_a_second_hand_over_to_an_agent_that_is_about_to_take_over_is_refused() -> None:
    async def twice(context: Context[Any]) -> None:
        first = asyncio.create_task(context.hand_over("billing"))
        await asyncio.sleep(0)
        with pytest.raises(HandOverRefused, match="about to take it over"):
            await context.hand_over("billing")
        await first

    with Call(desk(billing(phrases=Phrases(greeting="Billing, hello.")))) as call:
        call.user("tell me a story").waits(500)
        call.run(twice(call.context))
        call.settles()
        assert call.heard.count("Billing, hello.") == 1


def test_a_ring_of_hand_overs_ends_and_the_person_can_go_on() -> None:
    async def passes(request: Request, context: Context[Any]) -> AsyncIterator[Any]:
        if request.outputs and "in a row" in request.outputs[-1].output:
            yield "We stay here."
        else:
            yield ToolCall("hand_over", {"to": "billing" if context.agent == "desk" else "desk"})

    def agent(name: str, to: str, **more: Any) -> Agent:
        return Agent(passes, name=name, tools=[hand_over_to(to)], tool_rounds_max=50, **more)

    with Call(agent("desk", "billing", agents=(agent("billing", "desk"),))) as call:
        call.user("help me").expect_heard("We stay here.").expect_nothing_lost()


def test_two_agents_of_one_name_are_refused_when_the_agent_is_made() -> None:
    with pytest.raises(InvalidAgent, match="two agents have the name 'billing'"):
        desk(billing(), billing())
    with pytest.raises(InvalidAgent, match="each with a name"):
        desk(replace(billing(), name=""))
