"""Failures of a chat service: each has its class, and none reveals a key or the user's words."""

from __future__ import annotations

import traceback

import pytest

from duologue.brains import ChatBrain
from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import ServiceError, classify
from tests.brains.chat.chat_replies import ASKED, all_parts, breaks_off, failure_of
from tests.brains.chat_server import Script, Wire, answers, says, stalls_after, talking

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
def test_the_http_status_decides_the_error_class(status: int, error: ErrorClass) -> None:
    parts, failure = failure_of(answers(status, {"error": {"message": "no"}}))
    assert parts == []
    assert classify(failure) is error
    assert str(status) in str(failure)


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("reported", "error"),
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
def test_an_error_in_the_stream_is_classified_by_its_code(reported: object, error: ErrorClass) -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="So ")
        await wire.data({"error": reported})
        await wire.end()

    parts, failure = failure_of(script)
    assert parts == ["So "]
    assert failure.error is error


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
@pytest.mark.parametrize("ending", [breaks_off, _dies_within_a_line, _ends_without_a_reason, _is_done_without_a_reason])
def test_a_reply_that_breaks_off_is_a_network_failure(ending: Script, chunked: bool) -> None:
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
def test_garbage_in_the_stream_is_a_server_failure(garbage: bytes) -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="So ")
        await wire.raw(garbage)
        await wire.finish()

    parts, failure = failure_of(script)
    assert parts == ["So "]
    assert failure.error is ErrorClass.SERVER_ERROR


@pytest.mark.req("L-12")
def test_an_answer_that_dies_before_it_begins_is_a_network_failure() -> None:
    assert failure_of(breaks_off)[1].error is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.req("L-12")
def test_an_error_page_that_breaks_off_is_a_network_failure() -> None:
    async def script(wire: Wire) -> None:
        await wire.raw(b"HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nContent-Length: 999\r\n\r\n<html>")
        wire.break_off()

    assert failure_of(script)[1].error is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.req("L-12")
@pytest.mark.parametrize("texts", [(), ("Well, ",)])
def test_silence_is_a_network_failure(texts: tuple[str, ...]) -> None:
    parts, failure = failure_of(stalls_after(*texts), silence_ms_max=200)
    assert parts in (list(texts), [])  # a busy machine may be silent even earlier
    assert failure.error is ErrorClass.NETWORK_TIMEOUT


@pytest.mark.req("L-12")
def test_an_unreachable_server_is_a_network_failure() -> None:
    async def run() -> None:
        async with talking() as (server, brain):
            await server.stop()
            with pytest.raises(ServiceError) as caught:
                await all_parts(brain)
        assert caught.value.error is ErrorClass.NETWORK_TIMEOUT

    run_jumping(run())


# -- What a failure reveals


_SECRET = "sk-very-secret-123"


def _everything(failure: ServiceError) -> str:
    """All that a log could show of it."""
    shown = "".join(traceback.format_exception(failure))
    return f"{failure!s} {failure!r} {failure.args} {shown}"


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_not_shown_but_the_remedy_is(status: int) -> None:
    refusal = {"error": {"message": f"Incorrect API key provided: {_SECRET}.", "code": _SECRET, "type": _SECRET}}
    _, failure = failure_of(answers(status, refusal), api_key=_SECRET)
    assert "check the API key of 127.0.0.1" in str(failure)
    assert _SECRET not in _everything(failure)


@pytest.mark.req("C-SEC-003")
def test_a_missing_key_is_reported_when_the_brain_is_created() -> None:
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

    assert _SECRET not in run_jumping(run())


@pytest.mark.req("C-SEC-003")
def test_a_secret_in_the_base_url_is_not_shown() -> None:
    async def run() -> ServiceError:
        async with talking(answers(401)) as (server, _):
            brain = ChatBrain("small", base_url=f"http://me:{_SECRET}@127.0.0.1:{server.port}/{_SECRET}")
            with pytest.raises(ServiceError) as caught:
                await all_parts(brain)
            await brain.close()
        return caught.value

    assert _SECRET not in _everything(run_jumping(run()))


@pytest.mark.parametrize(
    "script",
    [
        answers(400, {"error": {"message": f"bad request: {ASKED.text}", "code": "context_length_exceeded"}}),
        answers(500, ASKED.text, "text/plain"),
    ],
)
def test_a_failure_does_not_repeat_what_was_said(script: Script) -> None:
    assert ASKED.text not in _everything(failure_of(script)[1])


def test_a_plain_error_code_is_reported() -> None:
    script = answers(400, {"error": {"message": "too long", "code": "context_length_exceeded"}})
    assert "(400, context_length_exceeded)" in str(failure_of(script)[1])
