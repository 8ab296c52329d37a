"""A chat brain against a real server on a local port: streams, cancelling, requests, summaries."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from duologue.brains import ChatBrain
from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import Part, Request, ServiceError, Summarises, Tool
from duologue.ports.usage_report import report_usage_to
from tests.brains.chat.chat_replies import ASKED, all_parts, breaks_off, reply_to
from tests.brains.chat_server import ChatServer, Script, Wire, answers, says, stalls_after, talking
from tests.limits import WAIT_S

# -- Text


@pytest.mark.req("T-08")
def test_text_comes_as_it_is_streamed() -> None:
    assert reply_to(says("It ", "is ", "sunny.")) == ["It ", "is ", "sunny."]


@pytest.mark.req("T-08")
def test_the_first_text_arrives_before_the_server_sends_the_second() -> None:
    async def run() -> list[Part]:
        heard = asyncio.Event()

        async def script(wire: Wire) -> None:
            await wire.begin()
            await wire.delta(content="It is ")
            await heard.wait()
            await wire.delta(content="sunny.")
            await wire.finish()

        parts: list[Part] = []
        async with talking(script) as (_, brain):
            async for part in brain.reply(ASKED):
                parts.append(part)
                heard.set()
        return parts

    assert run_jumping(run()) == ["It is ", "sunny."]


def test_a_slow_first_token_is_waited_for() -> None:
    async def run() -> list[Part]:
        awake = asyncio.Event()

        async def script(wire: Wire) -> None:
            await awake.wait()
            await says("Good morning.")(wire)

        async with talking(script) as (server, brain):
            reply = asyncio.create_task(all_parts(brain))
            await server.asked.wait()
            assert not reply.done()
            awake.set()
            return await reply

    assert run_jumping(run()) == ["Good morning."]


def test_two_replies_share_a_connection() -> None:
    async def run() -> int:
        async with talking(says("One."), says("Two.")) as (server, brain):
            assert await all_parts(brain) == ["One."]
            assert await all_parts(brain) == ["Two."]
            return server.connections

    assert run_jumping(run()) == 1


@pytest.mark.parametrize("ending", ["silence", "abort", "garbage"])
def test_a_failure_after_the_end_of_a_reply_is_ignored(ending: str) -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="Done.")
        await wire.delta(finish="stop")
        if ending == "silence":
            await wire.until_gone()
        elif ending == "garbage":
            await wire.raw(b"data: {oops\n\n")
            await wire.end()
        else:
            wire.break_off()

    assert reply_to(script) == ["Done."]


# -- Cancelling


@pytest.mark.req("T-08", "L-06")
def test_closing_the_reply_closes_the_connection() -> None:
    async def run() -> None:
        async with talking(stalls_after("Well, ")) as (server, brain):
            reply = brain.reply(ASKED)
            assert await anext(reply) == "Well, "
            await reply.aclose()
            await server.gone.wait()

    run_jumping(run())


@pytest.mark.req("T-08", "L-06")
def test_cancelling_the_reader_closes_the_connection() -> None:
    async def run() -> None:
        async with talking(stalls_after("Well, ")) as (server, brain):
            reply = brain.reply(ASKED)
            assert await anext(reply) == "Well, "
            waiting = asyncio.create_task(anext(reply))  # type: ignore[arg-type]
            await asyncio.sleep(0)  # let it begin to wait
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await server.gone.wait()

    run_jumping(run())


@pytest.mark.req("T-08", "L-06")
def test_cancelling_before_the_first_token_closes_the_connection() -> None:
    async def run() -> None:
        async with talking(Wire.until_gone) as (server, brain):
            reply = asyncio.create_task(all_parts(brain))
            await server.asked.wait()
            reply.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reply
            await server.gone.wait()

    run_jumping(run())


def test_a_reply_that_was_closed_does_not_disturb_the_next() -> None:
    async def run() -> list[Part]:
        async with talking(stalls_after("Old "), says("New.")) as (_, brain):
            old = brain.reply(ASKED)
            assert await anext(old) == "Old "
            await old.aclose()
            return await all_parts(brain)

    assert run_jumping(run()) == ["New."]


# -- Requests


async def _body(request: Request, **options: Any) -> tuple[dict[str, Any], str]:
    """The body and the head of the request that the server gets."""
    async with talking(says("Hi."), **options) as (server, brain):
        await all_parts(brain, request)
        return server.bodies[0], server.heads[0]


def test_any_base_url_and_key_are_used() -> None:
    body, head = run_jumping(_body(ASKED, api_key="local"))
    assert head.startswith("POST /v1/chat/completions ")
    assert "authorization: bearer local" in head.lower()
    assert body == {"model": "small", "stream": True, "messages": [{"role": "user", "content": ASKED.text}]}


def test_options_go_into_every_request() -> None:
    body, _ = run_jumping(_body(ASKED, temperature=0.0, extra={"max_tokens": 50, "chat_template_kwargs": {"x": 1}}))
    assert (body["temperature"], body["max_tokens"], body["chat_template_kwargs"]) == (0.0, 50, {"x": 1})


def test_tools_are_described() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    request = Request(1, "Hi", tools=(Tool("weather", "The weather in a city.", schema),))
    body, _ = run_jumping(_body(request))
    function = {"name": "weather", "description": "The weather in a city.", "parameters": schema}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert "tool_choice" not in body


def test_a_callers_client_is_used_without_its_retries_and_left_open() -> None:
    openai = pytest.importorskip("openai", reason="pip install 'duologue[llm]'")

    async def run() -> None:
        async with talking(answers(500), says("Hi.")) as (server, _):
            client = openai.AsyncOpenAI(base_url=server.url, api_key="mine", max_retries=5)
            brain = ChatBrain("small", client=client)
            with pytest.raises(ServiceError):
                await all_parts(brain)
            assert len(server.bodies) == 1
            await brain.close()
            assert not client.is_closed()
            assert await all_parts(brain) == ["Hi."]
            await client.close()

    run_jumping(run())


# -- Summaries


def _completion(content: object) -> Script:
    message = {"role": "assistant", "content": content}
    return answers(200, {"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def summary_of(script: Script, text: str = "A long story.", chars_max: int = 40) -> str:
    async def run() -> str:
        async with talking(script, temperature=0.5) as (server, brain):
            assert isinstance(brain, Summarises)
            summary = await brain.summarise(text, chars_max)
            for body in server.bodies:
                assert "stream" not in body
                assert "40 characters" in body["messages"][0]["content"]
                assert body["messages"][1] == {"role": "user", "content": text}
            return summary

    return run_jumping(run())


def test_a_summary_is_what_the_model_says() -> None:
    assert summary_of(_completion(" They talked about it. ")) == "They talked about it."


def test_a_summary_that_is_too_long_is_cut_and_marked() -> None:
    summary = summary_of(_completion("word " * 50))
    assert len(summary) <= 40
    assert summary.endswith("word…")


def test_an_empty_text_is_summarised_without_a_request() -> None:
    assert summary_of(_completion("never sent"), text="  ") == ""


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("script", "error"),
    [
        (answers(429), ErrorClass.RATE_LIMIT),
        (answers(200, "{oops"), ErrorClass.SERVER_ERROR),
        (answers(200, "<html>", "text/html"), ErrorClass.SERVER_ERROR),
        (answers(200, {"choices": []}), ErrorClass.SERVER_ERROR),
        (_completion(None), ErrorClass.SERVER_ERROR),
        (breaks_off, ErrorClass.NETWORK_TIMEOUT),
    ],
)
def test_a_summary_fails_as_a_reply_does(script: Script, error: ErrorClass) -> None:
    with pytest.raises(ServiceError) as caught:
        summary_of(script)
    assert caught.value.error is error


# -- Without the SDK


def test_importing_the_brain_needs_no_sdk() -> None:
    code = "import sys; import duologue.brains.chat; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=WAIT_S).returncode == 0


def test_without_the_sdk_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ModuleNotFoundError, match=r"^a chat brain needs openai: pip install 'duologue\[llm\]'$"):
        ChatBrain("small", base_url="http://127.0.0.1:1/v1")


def test_the_tokens_of_a_reply_are_reported_and_only_openai_is_asked_for_them_by_default() -> None:
    used: list[tuple[str, str, dict[str, int]]] = []

    def note(part: str, provider: str, model: str, began_at: int = 0, **amounts: int) -> None:
        used.append((part, model, amounts))

    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="Yes.")
        await wire.delta(finish="stop")
        usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
        await wire.data({"id": "c1", "choices": [], "usage": usage})
        await wire.raw(b"data: [DONE]\n\n")
        await wire.end()

    async def run() -> list[dict[str, Any]]:
        report_usage_to(note)
        async with ChatServer(script, script) as server:
            for counts_tokens in (None, True):
                brain = ChatBrain("small", base_url=server.url, counts_tokens=counts_tokens)
                assert [part async for part in brain.reply(ASKED)] == ["Yes."]
                await brain.close()
            return server.bodies

    silent, asked = run_jumping(run())
    assert used == [("llm", "small", {"input_tokens": 9, "cached_tokens": 4, "output_tokens": 2})] * 2
    assert "stream_options" not in silent
    assert asked["stream_options"] == {"include_usage": True}
