"""A long conversation is cut to its newest part, and to less for a model with a small context."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from duologue.brains.chat.history_budget import CHARS_MIN, LEFT_OUT, chars_in, is_length_error, newest
from duologue.core.leaves import ErrorClass
from duologue.ports import AgentSaid, CallOutput, Item, Note, Request, ServiceError, ToolCall, UserSaid
from tests.brains.chat_server import Wire, says, talking

CALL = ToolCall("weather", {"city": "Rome"}, "call_a")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def talk(exchanges: int, chars: int = 100) -> tuple[Item, ...]:
    found: list[Item] = []
    for number in range(exchanges):
        found += [UserSaid(number, f"{number} ".ljust(chars, "u")), AgentSaid(number, f"{number} ".ljust(chars, "a"))]
    return tuple(found)


# -- What is left out


def test_a_short_history_is_left_as_it_is() -> None:
    history = talk(5)
    assert newest(history, 1_000) is history


def test_a_long_history_is_cut_to_its_end_starting_with_a_user_turn() -> None:
    history = (*talk(20), UserSaid(99, "and now"))
    kept = newest(history, 1_000)
    assert kept[0] == Note(LEFT_OUT)
    assert isinstance(kept[1], UserSaid)
    assert kept[1:] == history[-len(kept) + 1 :]
    assert 700 < chars_in(kept[1:]) <= 1_000


@pytest.mark.parametrize("chars_max", [CHARS_MIN, 1_500, 3_000, 10_000])
def test_a_cut_history_contains_exactly_one_note_about_it(chars_max: int) -> None:
    assert [item for item in newest(talk(100), chars_max) if isinstance(item, Note)] == [Note(LEFT_OUT)]


def test_unanswered_turns_are_never_left_out_here() -> None:
    """However long it is: the call, its output, and what was said meanwhile. `request_budget` shortens these."""
    asked = (
        UserSaid(50, "what is the weather"),
        AgentSaid(50, "One moment.", calls=((7, CALL),)),
        CallOutput(7, "sunny " * 1_000),
        UserSaid(51, "hello?"),
    )
    kept = newest((*talk(20), *asked), 1_000)
    assert kept == (Note(LEFT_OUT), *asked)


def test_an_unanswered_history_is_not_cut_here() -> None:
    history = tuple(UserSaid(number, "x" * 500) for number in range(10))
    assert newest(history, 1_000) == history


# -- Who can read so much


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (400, "context_length_exceeded", ""),
        (400, None, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
        (400, "exceed_context_size_error", "the request exceeds the available context size"),
        (400, None, "prompt is too long: 9000 tokens"),
        (422, None, "Prompt contains 9000 tokens, too large for model with 8192 maximum context length"),
        (413, None, "Request Entity Too Large"),
    ],
)
def test_length_errors_of_many_servers_are_recognised(status: int, code: str | None, message: str) -> None:
    assert is_length_error(_failure(status, code, message))


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (400, None, "Unknown model"),
        (401, None, "the key is too long"),
        (500, "context_length_exceeded", ""),
        (429, None, "You have sent too many tokens per minute"),
    ],
)
def test_other_failures_are_not_length_errors(status: int, code: str | None, message: str) -> None:
    assert not is_length_error(_failure(status, code, message))


def _failure(status: int, code: str | None, message: str) -> object:
    return type("Failure", (), {"status_code": status, "code": code, "type": None, "message": message})()


async def _refuse(wire: Wire) -> None:
    await wire.whole(400, {"error": {"message": "maximum context length", "code": "context_length_exceeded"}})


async def _reply(brain: Any, request: Request) -> str:
    return "".join([part async for part in brain.reply(request)])


def test_a_model_with_a_small_context_is_sent_less_on_retry() -> None:
    async def run() -> None:
        request = Request(9, "and now", (*talk(40), UserSaid(99, "and now")))
        async with talking(_refuse, _refuse, says("Hi.")) as (server, brain):
            for _ in range(2):
                with pytest.raises(ServiceError) as refused:
                    await _reply(brain, request)
                assert refused.value.error is ErrorClass.SERVER_ERROR
                assert "maximum" not in str(refused.value)
            assert await _reply(brain, request) == "Hi."
        sizes = [sum(len(each["content"]) for each in body["messages"]) for body in server.bodies]
        assert sizes[1] < sizes[0] * 0.6
        assert sizes[2] < sizes[1] * 0.6
        assert [body["messages"][-1]["content"] for body in server.bodies] == ["and now"] * 3

    asyncio.run(run())


def test_a_history_that_cannot_get_shorter_is_a_refused_request() -> None:
    async def run() -> None:
        async with talking(_refuse) as (_, brain):
            with pytest.raises(ServiceError) as refused:
                await _reply(brain, Request(1, "hello", (UserSaid(1, "hello"),)))
            assert refused.value.error is ErrorClass.INVALID_ARGS

    asyncio.run(run())


@pytest.mark.parametrize("chars_max", [CHARS_MIN, 60_000])
def test_the_whole_request_is_bounded(chars_max: int) -> None:
    """A chain of tool calls with long outputs, and long turns meanwhile: nothing of it is answered yet."""
    history: list[Item] = [UserSaid(1, "compare them all")]
    for number in range(60):
        history += [
            AgentSaid(number, "", calls=((number, ToolCall("weather", {"city": "R" * 500}, f"call_{number}")),)),
            CallOutput(number, f"{number} ".ljust(4_000, "x")),
            UserSaid(number + 2, "please go on " * 100),
        ]

    async def run() -> dict[str, Any]:
        async with talking(says("Yes."), history_chars_max=chars_max) as (server, brain):
            await _reply(brain, Request(99, "please go on " * 100, tuple(history)))
            body: dict[str, Any] = server.bodies[0]
            return body

    body = asyncio.run(run())
    assert len(json.dumps(body["messages"])) <= 1.5 * chars_max + 2_500
    assert "are left out, because they don't fit" in str(body["messages"])
