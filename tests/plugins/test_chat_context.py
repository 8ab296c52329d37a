"""A request becomes a chat context of LiveKit's."""

from __future__ import annotations

import pytest

from duologue.plugins.chat_context import write_context, write_plugin_tools
from duologue.ports import AgentSaid, CallOutput, Note, Request, Tool, ToolCall, UserSaid
from tests.needs import needs_package

TOOL = Tool("look", "Look it up", {"type": "object", "properties": {"what": {"type": "string"}}})


@pytest.fixture(autouse=True)
def _package() -> None:
    needs_package("livekit.agents", "pip install 'duologue[dev]'")


def test_history_calls_and_outputs_are_in_order() -> None:
    call = ToolCall("look", {"what": "x"}, "c1")
    history = (UserSaid(1, "Look."), AgentSaid(1, "Wait.", calls=((1, call),)), CallOutput(1, "found"))
    context = write_context(Request(2, "", history, instructions="Be brief."), "You are kind.", "user")
    kinds = [item.type for item in context.items]
    assert kinds == ["message", "message", "message", "function_call", "function_call_output"]
    assert context.items[0].text_content == "You are kind.\n\nBe brief."
    assert (context.items[3].call_id, context.items[4].call_id, context.items[4].output) == ("c1", "c1", "found")


def test_an_aside_is_marked_as_not_said_by_the_person() -> None:
    context = write_context(Request(2, "", (UserSaid(1, "Hi."), Note("Bad line."))), "", "user")
    assert "[Not said by the person: Bad line.]" in str(context.items[1].text_content)


def test_tools_are_described_by_their_schema() -> None:
    described = write_plugin_tools((TOOL,))[0]
    assert described.info.name == "look"
    assert described.info.raw_schema["parameters"] == TOOL.parameters
