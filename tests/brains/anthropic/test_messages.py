"""A request as messages of Anthropic's API."""

from __future__ import annotations

from duologue.brains.anthropic.messages import write_anthropic, write_anthropic_tools
from duologue.core.leaves import Ask
from duologue.ports import AgentSaid, CallOutput, Item, News, Note, Request, Tool, ToolCall, UserSaid


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def written(*history: Item, **fields: object) -> list[dict[str, object]]:
    return write_anthropic(Request(2, "", history, **fields))[1]  # type: ignore[arg-type]


def test_instructions_are_the_system_text() -> None:
    system, messages = write_anthropic(Request(1, "Hi.", (UserSaid(1, "Hi."),), instructions="Be brief."), "Be kind.")
    assert system == "Be kind.\n\nBe brief."
    assert messages == [{"role": "user", "content": [text("Hi.")]}]


def test_roles_alternate_and_the_first_message_is_the_users() -> None:
    messages = written(AgentSaid(1, "Hello."), UserSaid(1, "Hi."), UserSaid(2, "One thing."), Note("Bad line."))
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[0]["content"] == [text("[The conversation begins.]")]
    assert messages[2]["content"][:2] == [text("Hi."), text("One thing.")]  # type: ignore[index]


def test_a_greeting_begins_with_a_message_of_the_user() -> None:
    messages = written()
    assert [message["role"] for message in messages] == ["user"]


def test_results_open_the_message_after_their_calls() -> None:
    calls = ((1, ToolCall("look", {"x": 1}, "call:1")), (2, ToolCall("look", "broken", "call_2")))
    messages = written(UserSaid(1, "Look."), AgentSaid(1, "", calls=calls), CallOutput(1, "found"), News(9, "more"))
    assert messages[1]["content"] == [
        {"type": "tool_use", "id": "call_1", "name": "look", "input": {"x": 1}},
        {"type": "tool_use", "id": "call_2", "name": "look", "input": {"unreadable": "broken"}},
    ]
    results = messages[2]["content"]
    assert isinstance(results, list)
    assert [block.get("tool_use_id") for block in results[:2]] == ["call_1", "call_2"]
    assert results[0]["content"] == "found"
    assert results[2]["type"] == "text", "asides come after the results"


def test_the_last_message_is_always_the_users() -> None:
    for ask in Ask:
        messages = written(UserSaid(1, "Hi."), AgentSaid(1, "Hello."), ask=ask)
        assert messages[-1]["role"] == "user"


def test_tools() -> None:
    tool = Tool("look", "Look it up")
    assert write_anthropic_tools((tool,)) == [
        {"name": "look", "description": "Look it up", "input_schema": tool.parameters}
    ]
