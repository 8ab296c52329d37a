"""The LLM plugins of OpenAI, Azure OpenAI and Google against servers that speak their protocols: `make providers`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass
from duologue.plugins import PluginBrain
from duologue.ports import Part, Request, ServiceError, Tool, ToolCall, UserSaid
from tests.brains.chat_server import ChatServer, Script, Wire
from tests.limits import TEST_S
from tests.needs import needs_package, needs_plugin

TRIED = (("openai", "LLM"), ("openai", "LLM (Azure)"), ("google", "LLM"))
WEATHER = Tool("weather", "The weather of a city", {"type": "object", "properties": {"city": {"type": "string"}}})
ASKED = Request(1, "Hello there.", (UserSaid(1, "Hello there."),), (WEATHER,), instructions="Be brief.")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, TEST_S))


def openai_brain(server: ChatServer) -> PluginBrain:
    openai = needs_plugin("openai")
    return PluginBrain(lambda: openai.LLM(model="gpt-x", api_key="secret-key", base_url=server.url))


def azure_brain(server: ChatServer) -> PluginBrain:
    openai = needs_plugin("openai")
    return PluginBrain(
        lambda: openai.LLM.with_azure(
            model="gpt-x",
            azure_endpoint=server.url.removesuffix("/v1"),
            azure_deployment="mine",
            api_version="2024-10-21",
            api_key="secret-key",
        )
    )


def google_brain(server: ChatServer) -> PluginBrain:
    google = needs_plugin("google")
    types = needs_package("google.genai.types", "make providers")
    options = types.HttpOptions(base_url=server.url.removesuffix("/v1"))
    return PluginBrain(lambda: google.LLM(model="gemini-x", api_key="secret-key", http_options=options))


# -- What the services answer


def openai_says(*texts: str, call: str = "") -> Script:
    async def script(wire: Wire) -> None:
        def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
            choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
            return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x", "choices": [choice]}

        await wire.begin()
        for text in texts:
            await wire.data(chunk({"role": "assistant", "content": text}))
        if call:
            function = {"name": call, "arguments": '{"city": "Rome"}'}
            calls = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
            await wire.data(chunk({"role": "assistant", "tool_calls": calls}))
        await wire.data(chunk({}, "tool_calls" if call else "stop"))
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        await wire.data({**chunk({}), "choices": [], "usage": usage})
        await wire.raw(b"data: [DONE]\n\n")
        await wire.end()

    return script


def google_says(*texts: str, call: str = "") -> Script:
    async def script(wire: Wire) -> None:
        def chunk(part: dict[str, Any], **more: Any) -> dict[str, Any]:
            return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, **more}]}

        await wire.begin()
        for text in texts:
            await wire.data(chunk({"text": text}))
        last = {"functionCall": {"name": call, "args": {"city": "Rome"}}} if call else {"text": ""}
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
        await wire.data({**chunk(last, finishReason="STOP"), "usageMetadata": usage, "modelVersion": "gemini-x"})
        await wire.end()

    return script


SERVICES = {
    "openai": (openai_brain, openai_says, "POST /v1/chat/completions"),
    "azure": (azure_brain, openai_says, "POST /openai/deployments/mine/chat/completions?api-version=2024-10-21"),
    "google": (google_brain, google_says, "POST /v1/models/gemini-x:streamGenerateContent?alt=sse"),
}


def reply_to(name: str, script: Script, request: Request = ASKED) -> tuple[list[Part], ChatServer, PluginBrain]:
    async def work() -> tuple[list[Part], ChatServer, PluginBrain]:
        async with ChatServer(script) as server:
            brain = SERVICES[name][0](server)
            parts = [part async for part in brain.reply(request)]
            await brain.close()
            return parts, server, brain

    found: tuple[list[Part], ChatServer, PluginBrain] = run(work())
    return found


@pytest.mark.parametrize("name", SERVICES)
def test_text_is_streamed_and_tokens_are_counted(name: str) -> None:
    _, says, path = SERVICES[name]
    parts, server, brain = reply_to(name, says("It ", "is sunny."))
    assert "".join(part for part in parts if isinstance(part, str)) == "It is sunny."
    assert server.heads[0].startswith(path)
    assert "secret-key" in server.heads[0]
    told = json.dumps(server.bodies[0])
    assert "Be brief." in told
    assert "Hello there." in told
    assert '"weather"' in told
    assert (brain.usage.input_tokens, brain.usage.output_tokens) == (11, 7)


@pytest.mark.parametrize("name", SERVICES)
def test_a_tool_is_called(name: str) -> None:
    parts, _, _ = reply_to(name, SERVICES[name][1](call="weather"))
    assert len(parts) == 1
    call = parts[0]
    assert isinstance(call, ToolCall)
    assert call.name == "weather"
    assert json.loads(str(call.arguments)) == {"city": "Rome"}
    assert call.id


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    ("status", "error"),
    [(401, ErrorClass.AUTH_FAILURE), (429, ErrorClass.RATE_LIMIT), (503, ErrorClass.SERVER_ERROR)],
)
def test_failures_are_classified_and_never_retried(name: str, status: int, error: ErrorClass) -> None:
    async def script(wire: Wire) -> None:
        body = {"error": {"code": status, "message": "secret words", "status": "X", "type": "x"}}
        await wire.whole(status, body)

    with pytest.raises(ServiceError) as raised:
        reply_to(name, script)  # a second request would find no script, and the server would complain
    assert raised.value.error is error
    assert "secret words" not in str(raised.value)
