"""The context of a call: who gets it, what it knows, and what it refuses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from duologue import Agent, CallInfo, Context, Request, ToolCall
from duologue.ports.context import NotPossible
from duologue.testing import Call


@dataclass
class Order:
    name: str = ""
    items: list[str] = field(default_factory=list)


def echo(request: Request) -> str:
    return f"You said {request.text}."


def calling(tool: str) -> Any:
    """A brain that calls this tool once."""

    async def brain(request: Request) -> AsyncIterator[Any]:
        yield "Done." if request.outputs else ToolCall(tool, {})

    return brain


def test_a_tool_gets_the_facts_and_the_data_of_its_call() -> None:
    seen: list[object] = []

    async def look(context: Context[Order]) -> str:
        """Look at the call."""
        context.data.name = "Ada"
        seen.extend((context.caller, context.line, context.agent))
        return "looked"

    agent = Agent(calling("look"), tools=[look], data=Order, name="desk")
    with Call(agent, info=CallInfo(line="phone", caller="+491")) as call:
        call.user("hello there").expect_called("look")
        assert seen == ["+491", "phone", "desk"]
        assert call.context.data.name == "Ada"


def test_a_function_brain_may_take_the_context_as_its_second_argument() -> None:
    def brain(request: Request, context: Context[Order]) -> str:
        context.data.items.append(request.text)
        return f"{len(context.data.items)} items."

    with Call(Agent(brain, data=Order)) as call:
        call.user("an apple").user("a pear").expect_heard("2 items.")


def test_a_brain_that_is_a_class_has_the_context_in_its_requests() -> None:
    class Counter:
        async def reply(self, request: Request) -> AsyncIterator[str]:
            assert request.context is not None
            request.context.data.items.append(request.text)
            yield f"{len(request.context.data.items)} items on the line {request.context.line}."

    with Call(Agent(Counter(), data=Order), info=CallInfo(line="phone")) as call:
        call.user("an apple").user("a pear").expect_heard("2 items on the line phone.")
        assert call.context.data.items == ["an apple", "a pear"]


@pytest.mark.parametrize("name", ["transfer", "send_digits"])
def test_what_no_line_can_do_yet_is_refused_by_name(name: str) -> None:
    with Call(echo) as call, pytest.raises(NotPossible, match=name):
        call.run(getattr(call.context, name)("1"))


def test_holding_is_refused_by_name() -> None:
    with Call(echo) as call, pytest.raises(NotPossible, match="hold"):
        call.run(call.context.hold())


def test_a_context_without_a_call_has_facts_and_does_nothing() -> None:
    context: Context[None] = Context(CallInfo("x", caller="+491"))
    assert (context.conversation, context.caller) == ("x", "+491")
    with pytest.raises(NotPossible, match="has not started"):
        context.say("hello")


def test_a_line_without_messages_to_a_client_refuses_them_by_name() -> None:
    context: Context[None] = Context(CallInfo(line="phone"))
    with pytest.raises(NotPossible, match="'phone' can't send messages"):
        context.send_to_client("hello")
