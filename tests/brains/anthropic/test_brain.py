"""An Anthropic brain against a server on a local port that speaks the Messages API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue import AnthropicBrain
from duologue.core.leaves import Ask, ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import (
    AgentSaid,
    CallOutput,
    Item,
    Part,
    Request,
    ServiceError,
    Summarises,
    Tool,
    ToolCall,
    UserSaid,
)
from tests.brains.anthropic_messages import AnthropicServer, answers, breaks_off, calls, errs, fails, says, stalls
from tests.brains.chat_server import Script
from tests.limits import TEST_S
from tests.needs import needs_package

WEATHER = Tool("weather", "The weather of a city", {"type": "object", "properties": {"city": {"type": "string"}}})
ASKED = Request(1, "Hello there.", (UserSaid(1, "Hello there."),), (WEATHER,), instructions="Be brief.")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the proxy and the key of this machine."""
    needs_package("anthropic", "pip install 'duologue[anthropic]'")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return run_jumping(asyncio.wait_for(work, TEST_S))


def brain_of(server: AnthropicServer, **settings: Any) -> AnthropicBrain:
    given = {"base_url": server.url.removesuffix("/v1"), "api_key": "secret-key", **settings}
    return AnthropicBrain("claude-x", **given)


def reply_to(script: Script, request: Request = ASKED, **settings: Any) -> tuple[list[Part], dict[str, Any], str]:
    async def work() -> tuple[list[Part], dict[str, Any], str]:
        async with AnthropicServer(script) as server:
            brain = brain_of(server, **settings)
            try:
                parts = [part async for part in brain.reply(request)]
            finally:
                await brain.close()
            return parts, server.bodies[0], server.heads[0]

    found: tuple[list[Part], dict[str, Any], str] = run(work())
    return found


@pytest.mark.req("T-08")
def test_text_is_streamed() -> None:
    parts, body, head = reply_to(says("It ", "is sunny."))
    assert parts == ["It ", "is sunny."]
    assert head.startswith("POST /v1/messages ")
    assert "secret-key" in head
    assert body["system"][0]["text"] == "Be brief."
    assert body["tools"][0]["name"] == "weather"


def test_instructions_and_tools_are_marked_for_the_cache() -> None:
    _, body, _ = reply_to(says("Yes."))
    assert body["system"][0]["cache_control"] == body["tools"][-1]["cache_control"] == {"type": "ephemeral"}
    _, body, _ = reply_to(says("Yes."), caches=False)
    assert "cache_control" not in str(body)


def test_a_tool_is_called_after_text() -> None:
    parts, _, _ = reply_to(calls("weather", '{"city": ', '"Rome"}', text="Let me look."))
    assert parts == ["Let me look.", ToolCall("weather", '{"city": "Rome"}', "toolu_1")]


def test_a_check_in_may_not_call_a_tool() -> None:
    history = (UserSaid(1, "Hi."), AgentSaid(1, "Hello."))
    _, body, _ = reply_to(says("Are you there?"), Request(2, "", history, (WEATHER,), ask=Ask.CHECK_IN))
    assert body["tool_choice"] == {"type": "none"}


def test_extra_fields_are_in_the_body() -> None:
    _, body, _ = reply_to(says("Yes."), extra={"service_tier": "auto"}, max_tokens=99)
    assert (body["service_tier"], body["max_tokens"]) == ("auto", 99)


def test_tokens_are_counted() -> None:
    async def work() -> None:
        async with AnthropicServer(says("Yes.")) as server:
            brain = brain_of(server)
            _ = [part async for part in brain.reply(ASKED)]
            await brain.close()
            assert (brain.usage.input_tokens, brain.usage.output_tokens) == (11, 7)

    run(work())


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


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (fails(401, "secret words"), ErrorClass.AUTH_FAILURE),
        (fails(404, "secret words"), ErrorClass.INVALID_ARGS),
        (fails(429, "secret words"), ErrorClass.RATE_LIMIT),
        (fails(529, "secret words"), ErrorClass.SERVER_ERROR),
        (errs("overloaded_error", "It "), ErrorClass.SERVER_ERROR),
        (errs("rate_limit_error"), ErrorClass.RATE_LIMIT),
        (breaks_off("It "), ErrorClass.NETWORK_TIMEOUT),
    ],
)
def test_failures_are_classified_and_never_retried(script: Script, error: ErrorClass) -> None:
    with pytest.raises(ServiceError) as raised:
        reply_to(script)
    assert raised.value.error is error
    assert "secret words" not in str(raised.value)
    assert "secret-key" not in str(raised.value)


def test_a_summary_is_cut_to_its_length() -> None:
    async def work() -> str:
        async with AnthropicServer(answers("A long summary of it all.")) as server:
            brain = brain_of(server)
            assert isinstance(brain, Summarises)
            found = await brain.summarise("text", 10)
            assert await brain.summarise(" ", 10) == ""
            await brain.close()
            return found

    assert run(work()) == "A long su…"


def test_without_a_key_the_variable_is_named() -> None:
    with pytest.raises(ServiceError, match="set ANTHROPIC_API_KEY") as raised:
        AnthropicBrain("claude-x")
    assert raised.value.error is ErrorClass.AUTH_FAILURE


def test_the_key_of_the_environment_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-environment")
    _, _, head = reply_to(says("Yes."), api_key=None)
    assert "sk-environment" not in head


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
