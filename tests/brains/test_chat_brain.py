"""A chat brain against a real server on a local port: streams, calls, failures, cancelling, summaries."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import traceback
from typing import Any

import pytest

from duologue.brains import ChatBrain
from duologue.core.leaves import ErrorClass
from duologue.ports import Part, Request, ServiceError, Summarises, Tool, ToolCall, classify
from tests.brains.chat_server import WAIT_S, Script, Wire, answers, says, stalls_after, talking

ASKED = Request(reply=1, text="How is the weather?")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a proxy nor a key of whoever runs the tests."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def all_parts(brain: ChatBrain, request: Request = ASKED) -> list[Part]:
    return [part async for part in brain.reply(request)]


def reply_to(script: Script, request: Request = ASKED, **options: Any) -> list[Part]:
    """What one reply yields, with a server that behaves like this."""

    async def run() -> list[Part]:
        async with talking(script, **options) as (_, brain):
            return await all_parts(brain, request)

    return asyncio.run(run())


def failure_of(script: Script, **options: Any) -> tuple[list[Part], ServiceError]:
    """What one reply yields before it fails, and how it fails."""

    async def run() -> tuple[list[Part], ServiceError]:
        parts: list[Part] = []
        async with talking(script, **options) as (server, brain):
            reply = brain.reply(ASKED)
            try:
                async for part in reply:
                    parts.append(part)
            except ServiceError as failure:
                assert len(server.bodies) == 1, "the conversation retries, not the SDK"
                return parts, failure
        raise AssertionError("it did not fail")

    return asyncio.run(run())


def tool_piece(index: int | None, call: str | None = None, name: str | None = None, arguments: str = "") -> dict:
    """A delta of a call; what is None is left out."""
    piece: dict[str, Any] = {"function": {"arguments": arguments}}
    if name is not None:
        piece["function"]["name"] = name
    if index is not None:
        piece["index"] = index
    if call is not None:
        piece["id"] = call
    return piece


def calls(*pieces: dict[str, Any], finish: str = "tool_calls", text: str = "") -> Script:
    """A reply that makes calls, one piece at a time."""

    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(role="assistant", content=text or None)
        for piece in pieces:
            await wire.delta(tool_calls=[piece])
        await wire.finish(finish)

    return script


# -- Text


@pytest.mark.req("T-08")
def test_text_comes_as_it_is_streamed() -> None:
    assert reply_to(says("It ", "is ", "sunny.")) == ["It ", "is ", "sunny."]


@pytest.mark.req("T-08")
def test_the_first_text_is_handed_on_before_the_server_has_the_second() -> None:
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

    assert asyncio.run(run()) == ["It is ", "sunny."]


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

    assert asyncio.run(run()) == ["Good morning."]


def test_a_character_split_between_two_packets_stays_whole() -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        event = 'data: {"choices": [{"delta": {"content": "schön 🌞"}}]}\n\n'.encode()
        for cut in range(len(event)):
            await wire.raw(event[cut : cut + 1])
        await wire.finish()

    assert reply_to(script) == ["schön 🌞"]


def test_fields_that_a_server_leaves_out_are_survived() -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.raw(b": keep-alive\n\n")
        for data in (
            {"choices": []},
            {},
            None,
            {"choices": [{}]},
            {"choices": [{"delta": {}}]},
            {"choices": [{"delta": None}]},
            {"choices": [{"delta": {"content": None, "reasoning_content": "hm", "tool_calls": None}}]},
            {"choices": [{"delta": {"content": "Yes."}}]},
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}},
        ):
            await wire.data(data)
        await wire.raw(b"data: [DONE]\n\n")
        await wire.end()

    assert reply_to(script) == ["Yes."]


def test_a_refusal_is_spoken() -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(refusal="I can't help with that.")
        await wire.finish()

    assert reply_to(script) == ["I can't help with that."]


def test_a_reply_cut_at_its_limit_ends_where_it_is() -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="Once upon a")
        await wire.finish("length")

    assert reply_to(script) == ["Once upon a"]


def test_two_replies_share_a_connection() -> None:
    async def run() -> int:
        async with talking(says("One."), says("Two.")) as (server, brain):
            assert await all_parts(brain) == ["One."]
            assert await all_parts(brain) == ["Two."]
            return server.connections

    assert asyncio.run(run()) == 1


@pytest.mark.parametrize("ending", ["silence", "abort", "garbage"])
def test_what_goes_wrong_behind_the_end_of_a_reply_costs_nothing(ending: str) -> None:
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


# -- Calls


def test_a_call_in_many_pieces_is_one_call() -> None:
    pieces = [tool_piece(0, "call_a", "weather"), *(tool_piece(0, arguments=c) for c in '{"city": "Köln"}')]
    assert reply_to(calls(*pieces)) == [ToolCall("weather", '{"city": "Köln"}', "call_a")]


def test_text_and_a_call_come_in_order() -> None:
    script = calls(tool_piece(0, "call_a", "weather", "{}"), text="Let me look.")
    assert reply_to(script) == ["Let me look.", ToolCall("weather", "{}", "call_a")]


def test_a_call_is_handed_on_as_soon_as_the_next_one_begins() -> None:
    async def run() -> list[Part]:
        begun = asyncio.Event()

        async def script(wire: Wire) -> None:
            await wire.begin()
            await wire.delta(tool_calls=[tool_piece(0, "a", "weather", '{"city":')])
            await wire.delta(tool_calls=[tool_piece(0, arguments='"Rome"}')])
            await wire.delta(tool_calls=[tool_piece(1, "b", "news")])
            await begun.wait()
            await wire.delta(tool_calls=[tool_piece(1, arguments="{}")])
            await wire.finish("tool_calls")

        parts: list[Part] = []
        async with talking(script) as (_, brain):
            async for part in brain.reply(ASKED):
                parts.append(part)
                begun.set()
        return parts

    assert asyncio.run(run()) == [ToolCall("weather", '{"city":"Rome"}', "a"), ToolCall("news", "{}", "b")]


_ROME, _OSLO = '{"city": "Rome"}', '{"city": "Oslo"}'


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [
                tool_piece(0, "a", "weather"),
                tool_piece(1, "b", "weather"),
                tool_piece(0, arguments=_ROME[:5]),
                tool_piece(1, arguments=_OSLO[:7]),
                tool_piece(0, arguments=_ROME[5:]),
                tool_piece(1, arguments=_OSLO[7:]),
            ],
            id="in turns",
        ),
        pytest.param([tool_piece(0, "a", "weather", _ROME), tool_piece(0, "b", "weather", _OSLO)], id="same index"),
        pytest.param([tool_piece(None, "a", "weather", _ROME), tool_piece(None, "b", "weather", _OSLO)], id="no index"),
        pytest.param(
            [
                tool_piece(0, "a", "weather", _ROME[:5]),
                tool_piece(0, "a", "weather", _ROME[5:]),
                tool_piece(1, "b", "weather", _OSLO[:5]),
                tool_piece(1, "b", "weather", _OSLO[5:]),
            ],
            id="everything repeated",
        ),
    ],
)
def test_two_calls_are_told_apart_however_a_server_counts(pieces: list[dict[str, Any]]) -> None:
    assert reply_to(calls(*pieces)) == [ToolCall("weather", _ROME, "a"), ToolCall("weather", _OSLO, "b")]


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_ids_get_different_ones(index: int | None) -> None:
    first, second = reply_to(
        calls(tool_piece(index, None, "weather", _ROME), tool_piece(index, None, "weather", _OSLO))
    )
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.arguments, second.arguments) == (_ROME, _OSLO)
    assert first.id
    assert second.id
    assert first.id != second.id


def test_ids_that_are_made_up_differ_between_replies() -> None:
    async def run() -> list[Part]:
        script = calls(tool_piece(0, None, "weather", "{}"))
        async with talking(script, script) as (_, brain):
            return [*await all_parts(brain), *await all_parts(brain, Request(reply=2, text="And now?"))]

    first, second = asyncio.run(run())
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert first.id != second.id


def test_a_call_without_arguments_has_none_that_can_be_parsed() -> None:
    assert reply_to(calls(tool_piece(0, "a", "now"), finish="stop")) == [ToolCall("now", "{}", "a")]


def test_broken_arguments_are_handed_on_as_the_model_wrote_them() -> None:
    assert reply_to(calls(tool_piece(0, "a", "now", "{oops"))) == [ToolCall("now", "{oops", "a")]


def test_a_call_without_a_name_is_the_servers_failure() -> None:
    _, error = failure_of(calls(tool_piece(0, "a", None, "{}")))
    assert error.error is ErrorClass.SERVER_ERROR


# -- Cancelling


@pytest.mark.req("T-08", "L-06")
def test_closing_the_reply_closes_the_connection() -> None:
    async def run() -> None:
        async with talking(stalls_after("Well, ")) as (server, brain):
            reply = brain.reply(ASKED)
            assert await anext(reply) == "Well, "
            await reply.aclose()
            await server.gone.wait()

    asyncio.run(run())


@pytest.mark.req("T-08", "L-06")
def test_cancelling_whoever_waits_for_more_closes_the_connection() -> None:
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

    asyncio.run(run())


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

    asyncio.run(run())


def test_a_reply_that_was_closed_does_not_disturb_the_next() -> None:
    async def run() -> list[Part]:
        async with talking(stalls_after("Old "), says("New.")) as (_, brain):
            old = brain.reply(ASKED)
            assert await anext(old) == "Old "
            await old.aclose()
            return await all_parts(brain)

    assert asyncio.run(run()) == ["New."]


# -- Failures


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ErrorClass.INVALID_ARGS),
        (401, ErrorClass.AUTH_FAILURE),
        (403, ErrorClass.AUTH_FAILURE),
        (404, ErrorClass.INVALID_ARGS),
        (422, ErrorClass.INVALID_ARGS),
        (429, ErrorClass.RATE_LIMIT),
        (500, ErrorClass.SERVER_ERROR),
        (503, ErrorClass.SERVER_ERROR),
        (504, ErrorClass.NETWORK_TIMEOUT),
    ],
)
def test_a_status_tells_the_class(status: int, error: ErrorClass) -> None:
    parts, failure = failure_of(answers(status, {"error": {"message": "no"}}))
    assert parts == []
    assert classify(failure) is error
    assert str(status) in str(failure)


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"message": "no", "code": 429}, ErrorClass.RATE_LIMIT),
        ({"message": "no", "code": "502"}, ErrorClass.SERVER_ERROR),
        ({"message": "no", "type": "rate_limit_exceeded"}, ErrorClass.RATE_LIMIT),
        (
            {"type": "invalid_request_error", "code": "context_length_exceeded"},
            ErrorClass.INVALID_ARGS,
        ),
        ({"message": "no", "code": "invalid_api_key", "type": "invalid_request_error"}, ErrorClass.AUTH_FAILURE),
        ({"message": "no", "type": "server_error"}, ErrorClass.SERVER_ERROR),
        ("out of memory", ErrorClass.SERVER_ERROR),
    ],
)
def test_an_error_within_the_stream_tells_the_class(told: object, error: ErrorClass) -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="So ")
        await wire.data({"error": told})
        await wire.end()

    parts, failure = failure_of(script)
    assert parts == ["So "]
    assert failure.error is error


async def _dies(wire: Wire) -> None:
    wire.break_off()


async def _dies_within_a_line(wire: Wire) -> None:
    await wire.raw(b'data: {"choices": [{"del')
    wire.break_off()


async def _ends_without_a_reason(wire: Wire) -> None:
    await wire.end()


async def _is_done_without_a_reason(wire: Wire) -> None:
    await wire.raw(b"data: [DONE]\n\n")
    await wire.end()


@pytest.mark.req("L-12")
@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("ending", [_dies, _dies_within_a_line, _ends_without_a_reason, _is_done_without_a_reason])
def test_a_reply_that_breaks_off_is_a_failure_of_the_network(ending: Script, chunked: bool) -> None:
    async def script(wire: Wire) -> None:
        await wire.begin(chunked=chunked)
        await wire.delta(content="So ")
        await ending(wire)

    parts, failure = failure_of(script)
    assert parts in (["So "], [])  # a dying connection may take with it what was on its way
    assert failure.error is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    "garbage",
    [
        b"data: {not json\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"choices": 5}\n\n',
        b'data: {"choices": [{"delta": {"content": 5}}]}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": "weather"}}]}\n\n',
        b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": 7}}]}}]}\n\n',
    ],
)
def test_garbage_in_the_stream_is_a_failure_of_the_server(garbage: bytes) -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="So ")
        await wire.raw(garbage)
        await wire.finish()

    parts, failure = failure_of(script)
    assert parts == ["So "]
    assert failure.error is ErrorClass.SERVER_ERROR


@pytest.mark.req("L-12")
def test_an_answer_that_dies_before_it_begins_is_a_failure_of_the_network() -> None:
    assert failure_of(_dies)[1].error is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.req("L-12")
def test_an_error_page_that_breaks_off_is_a_failure_of_the_network() -> None:
    async def script(wire: Wire) -> None:
        await wire.raw(b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nContent-Length: 999\r\n\r\n<html>")
        wire.break_off()

    assert failure_of(script)[1].error is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.req("L-12")
@pytest.mark.parametrize("texts", [(), ("Well, ",)])
def test_silence_is_a_failure_of_the_network(texts: tuple[str, ...]) -> None:
    parts, failure = failure_of(stalls_after(*texts), silence_ms_max=200)
    assert parts in (list(texts), [])  # a busy machine may be silent even earlier
    assert failure.error is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.req("L-12")
def test_nobody_there_is_a_failure_of_the_network() -> None:
    async def run() -> None:
        async with talking() as (server, brain):
            await server.stop()
            with pytest.raises(ServiceError) as caught:
                await all_parts(brain)
        assert caught.value.error is ErrorClass.NETWORK_TIMEOUT

    asyncio.run(run())


@pytest.mark.parametrize("said", [True, False])
def test_a_filter_keeps_calls_back_and_leaves_what_was_said(said: bool) -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        if said:
            await wire.delta(content="First, ")
        await wire.delta(tool_calls=[tool_piece(0, "a", "mix", "{}")])
        await wire.finish("content_filter")

    if said:
        assert reply_to(script) == ["First, "]
    else:
        assert failure_of(script)[1].error is ErrorClass.UNKNOWN


# -- What a failure reveals

_SECRET = "sk-very-secret-123"


def _everything(failure: ServiceError) -> str:
    """All that a log could show of it."""
    shown = "".join(traceback.format_exception(failure))
    return f"{failure!s} {failure!r} {failure.args} {shown}"


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_shown_but_how_to_put_it_right_is(status: int) -> None:
    refusal = {"error": {"message": f"Incorrect API key provided: {_SECRET}.", "code": _SECRET, "type": _SECRET}}
    _, failure = failure_of(answers(status, refusal), api_key=_SECRET)
    assert "check the API key of 127.0.0.1" in str(failure)
    assert _SECRET not in _everything(failure)


@pytest.mark.req("C-SEC-003")
def test_a_missing_key_is_told_when_the_brain_is_made() -> None:
    with pytest.raises(
        ServiceError, match=r"no API key for api\.openai\.com: pass api_key=..., or set OPENAI_API_KEY"
    ) as it:
        ChatBrain("small")
    assert it.value.error is ErrorClass.AUTH_FAILURE


@pytest.mark.req("C-SEC-003")
def test_the_key_of_the_environment_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", _SECRET)

    async def run() -> str:
        async with talking(says("Hi.")) as (server, brain):
            await all_parts(brain)
            return server.heads[0]

    assert _SECRET not in asyncio.run(run())


@pytest.mark.req("C-SEC-003")
def test_a_secret_in_the_base_url_is_not_shown() -> None:
    async def run() -> ServiceError:
        async with talking(answers(401)) as (server, _):
            brain = ChatBrain("small", base_url=f"http://me:{_SECRET}@127.0.0.1:{server.port}/{_SECRET}")
            with pytest.raises(ServiceError) as caught:
                await all_parts(brain)
            await brain.close()
        return caught.value

    assert _SECRET not in _everything(asyncio.run(run()))


@pytest.mark.parametrize(
    "script",
    [
        answers(400, {"error": {"message": f"bad request: {ASKED.text}", "code": "context_length_exceeded"}}),
        answers(500, ASKED.text, "text/plain"),
    ],
)
def test_a_failure_does_not_repeat_what_was_said(script: Script) -> None:
    assert ASKED.text not in _everything(failure_of(script)[1])


def test_a_plain_code_is_told() -> None:
    script = answers(400, {"error": {"message": "too long", "code": "context_length_exceeded"}})
    assert "(400, context_length_exceeded)" in str(failure_of(script)[1])


# -- What is asked


async def _body(request: Request, **options: Any) -> tuple[dict[str, Any], str]:
    """The body and the head of the request that the server gets."""
    async with talking(says("Hi."), **options) as (server, brain):
        await all_parts(brain, request)
        return server.bodies[0], server.heads[0]


def test_any_base_url_and_key_are_used() -> None:
    body, head = asyncio.run(_body(ASKED, api_key="local"))
    assert head.startswith("POST /v1/chat/completions ")
    assert "authorization: bearer local" in head.lower()
    assert body == {"model": "small", "stream": True, "messages": [{"role": "user", "content": ASKED.text}]}


def test_options_go_into_every_request() -> None:
    body, _ = asyncio.run(_body(ASKED, temperature=0.0, extra={"max_tokens": 50, "chat_template_kwargs": {"x": 1}}))
    assert (body["temperature"], body["max_tokens"], body["chat_template_kwargs"]) == (0.0, 50, {"x": 1})


def test_tools_are_described() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    request = Request(1, "Hi", tools=(Tool("weather", "The weather in a city.", schema),))
    body, _ = asyncio.run(_body(request))
    function = {"name": "weather", "description": "The weather in a city.", "parameters": schema}
    assert body["tools"] == [{"type": "function", "function": function}]
    assert "tool_choice" not in body


def test_a_client_of_ones_own_is_used_without_its_retries_and_left_open() -> None:
    openai = pytest.importorskip("openai")

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

    asyncio.run(run())


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

    return asyncio.run(run())


def test_a_summary_is_what_the_model_says() -> None:
    assert summary_of(_completion(" They talked about it. ")) == "They talked about it."


def test_a_summary_that_is_too_long_is_cut_and_marked() -> None:
    summary = summary_of(_completion("word " * 50))
    assert len(summary) <= 40
    assert summary.endswith("word…")


def test_nothing_is_summarised_without_asking() -> None:
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
        (_dies, ErrorClass.NETWORK_TIMEOUT),
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
