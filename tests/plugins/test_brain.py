"""An LLM plugin as a brain: Anthropic's real plugin against a server that speaks the Messages API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue.core.leaves import Ask, ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.plugins import PluginBrain, Usage
from duologue.ports import (
    AgentSaid,
    CallOutput,
    Item,
    Note,
    Part,
    Request,
    ServiceError,
    Tool,
    ToolCall,
    UserSaid,
)
from tests.brains.anthropic_messages import AnthropicServer, calls, fails, says, stalls
from tests.brains.chat_server import Script
from tests.limits import TEST_S
from tests.needs import needs_plugin

TRIED = (("anthropic", "LLM"),)
WEATHER = Tool("weather", "The weather of a city", {"type": "object", "properties": {"city": {"type": "string"}}})
ASKED = Request(1, "Hello there.", (UserSaid(1, "Hello there."),), instructions="Be brief.")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return run_jumping(asyncio.wait_for(work, TEST_S))


def brain_of(server: AnthropicServer, **settings: Any) -> PluginBrain:
    anthropic = needs_plugin("anthropic")
    url = server.url.removesuffix("/v1")
    return PluginBrain(lambda: anthropic.LLM(model="claude-x", api_key="secret-key", base_url=url), **settings)


def reply_to(script: Script, request: Request = ASKED, **settings: Any) -> tuple[list[Part], dict[str, Any]]:
    async def work() -> tuple[list[Part], dict[str, Any]]:
        async with AnthropicServer(script) as server:
            brain = brain_of(server, **settings)
            parts = [part async for part in brain.reply(request)]
            await brain.close()
            return parts, server.bodies[0]

    found: tuple[list[Part], dict[str, Any]] = run(work())
    return found


def test_text_is_streamed_and_tokens_are_counted() -> None:
    used: list[Usage] = []
    parts, body = reply_to(says("It ", "is sunny."), on_usage=used.append)
    assert parts == ["It ", "is sunny."]
    assert body["system"][0]["text"] == "Be brief."
    assert body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Hello there."}]}]
    assert len(used) == 1
    assert used[0].input_tokens == 11
    assert used[0].output_tokens > 0


def test_a_tool_is_described_called_and_never_run_by_the_plugin() -> None:
    request = Request(1, "Weather?", (UserSaid(1, "Weather?"),), (WEATHER,))
    parts, body = reply_to(calls("weather", '{"city": ', '"Rome"}'), request)
    assert parts == [ToolCall("weather", '{"city": "Rome"}', "toolu_1")]
    assert body["tools"][0]["name"] == "weather"
    assert body["tools"][0]["input_schema"]["properties"] == {"city": {"type": "string"}}


def test_the_output_of_a_call_comes_directly_after_it() -> None:
    call = ToolCall("weather", {"city": "Rome"}, "toolu_1")
    history = (
        UserSaid(1, "Weather?"),
        AgentSaid(1, "Let me look.", calls=((1, call),)),
        CallOutput(1, "sunny", tool="weather"),
        Note("The line is bad."),
    )
    _, body = reply_to(says("Sunny."), Request(2, "", history, (WEATHER,), outputs=(CallOutput(1, "sunny"),)))
    roles = [message["role"] for message in body["messages"]]
    assert roles[:3] == ["user", "assistant", "user"]
    assert body["messages"][1]["content"][1]["input"] == {"city": "Rome"}
    assert body["messages"][2]["content"][0]["content"] == "sunny"


def test_a_check_in_may_not_call_a_tool() -> None:
    request = Request(2, "", (UserSaid(1, "Hi."), AgentSaid(1, "Hello.")), (WEATHER,), ask=Ask.CHECK_IN)
    _, body = reply_to(says("Are you there?"), request)
    assert not body.get("tools")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ErrorClass.AUTH_FAILURE),
        (404, ErrorClass.INVALID_ARGS),
        (429, ErrorClass.RATE_LIMIT),
        (529, ErrorClass.SERVER_ERROR),
    ],
)
def test_a_failure_is_classified_without_the_words_of_the_service(status: int, error: ErrorClass) -> None:
    with pytest.raises(ServiceError) as raised:
        reply_to(fails(status, "your words were: Hello there."))
    assert raised.value.error is error
    assert "words were" not in str(raised.value)


def test_closing_the_reply_closes_the_connection() -> None:
    async def work() -> None:
        async with AnthropicServer(stalls("It is ")) as server:
            brain = brain_of(server)
            reply = brain.reply(ASKED)
            assert await anext(reply) == "It is "
            await reply.aclose()
            await asyncio.wait_for(server.gone.wait(), TEST_S)
            await brain.close()

    run(work())


@pytest.mark.parametrize("chars_max", [1_000, 60_000])
def test_the_whole_request_is_bounded(chars_max: int) -> None:
    """A chain of tool calls with long outputs, and long turns meanwhile: nothing of it is answered yet."""
    history: list[Item] = [UserSaid(1, "compare them all")]
    for number in range(60):
        history += [
            AgentSaid(number, "", calls=((number, ToolCall("weather", {"city": "R" * 500}, f"call_{number}")),)),
            CallOutput(number, f"{number} ".ljust(4_000, "x")),
            UserSaid(number + 2, "please go on " * 100),
        ]
    request = Request(99, "please go on " * 100, tuple(history), (WEATHER,))
    body = reply_to(says("Yes."), request, history_chars_max=chars_max)[1]
    assert len(json.dumps(body["messages"])) <= 1.5 * chars_max + 2_500
    assert "are left out, because they don't fit" in str(body["messages"])
