"""The parts of a streamed reply: text in order, and tool calls put together from many chunks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import Part, Request, ToolCall
from tests.brains.chat.chat_replies import ASKED, all_parts, calls, failure_of, reply_to, tool_piece
from tests.brains.chat_server import Wire, talking


def test_a_character_split_between_two_packets_stays_whole() -> None:
    async def script(wire: Wire) -> None:
        await wire.begin()
        event = 'data: {"choices": [{"delta": {"content": "schön 🌞"}}]}\n\n'.encode()
        for cut in range(len(event)):
            await wire.raw(event[cut : cut + 1])
        await wire.finish()

    assert reply_to(script) == ["schön 🌞"]


def test_missing_fields_count_as_empty() -> None:
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


# -- Calls


def test_a_call_in_many_pieces_is_one_call() -> None:
    pieces = [tool_piece(0, "call_a", "weather"), *(tool_piece(0, arguments=c) for c in '{"city": "Köln"}')]
    assert reply_to(calls(*pieces)) == [ToolCall("weather", '{"city": "Köln"}', "call_a")]


def test_text_and_a_call_come_in_order() -> None:
    script = calls(tool_piece(0, "call_a", "weather", "{}"), text="Let me look.")
    assert reply_to(script) == ["Let me look.", ToolCall("weather", "{}", "call_a")]


def test_a_call_is_returned_as_soon_as_the_next_one_begins() -> None:
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

    assert run_jumping(run()) == [ToolCall("weather", '{"city":"Rome"}', "a"), ToolCall("news", "{}", "b")]


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
def test_two_calls_stay_separate_however_a_server_numbers_them(pieces: list[dict[str, Any]]) -> None:
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


def test_generated_ids_differ_between_replies() -> None:
    async def run() -> list[Part]:
        script = calls(tool_piece(0, None, "weather", "{}"))
        async with talking(script, script) as (_, brain):
            return [*await all_parts(brain), *await all_parts(brain, Request(reply=2, text="And now?"))]

    first, second = run_jumping(run())
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert first.id != second.id


def test_a_call_without_arguments_gets_an_empty_object() -> None:
    assert reply_to(calls(tool_piece(0, "a", "now"), finish="stop")) == [ToolCall("now", "{}", "a")]


def test_broken_arguments_are_passed_on_unchanged() -> None:
    assert reply_to(calls(tool_piece(0, "a", "now", "{oops"))) == [ToolCall("now", "{oops", "a")]


def test_a_call_without_a_name_is_the_servers_failure() -> None:
    _, error = failure_of(calls(tool_piece(0, "a", None, "{}")))
    assert error.error is ErrorClass.SERVER_ERROR


@pytest.mark.parametrize("said", [True, False])
def test_a_content_filter_drops_calls_but_not_what_was_said(said: bool) -> None:
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
