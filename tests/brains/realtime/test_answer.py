"""One response streamed to its request: it ends exactly once, and what arrives later is dropped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from duologue import ServiceError
from duologue.brains.realtime import client_events as ce
from duologue.brains.realtime.answer import RealtimeAnswer
from duologue.brains.realtime.server_events import (
    ItemBegan,
    ItemEnded,
    OfResponse,
    ResponseEnded,
    SoundCame,
    TextCame,
    WordsCame,
)
from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import Part, Sound, ToolCall
from tests.limits import WAIT_S

MS_BYTES = 48
CALL = ToolCall("look", "{}", "call_1")


async def parts_of(answer: RealtimeAnswer) -> list[Part]:
    parts: list[Part] = []
    while (part := await answer.next()) is not None:
        parts.append(part)
    return parts


def with_answer(act: Callable[[RealtimeAnswer], Awaitable[list[Part]]], *events: OfResponse) -> list[Part]:
    """What `act` makes of an answer that these events have reached."""

    async def run() -> list[Part]:
        answer = RealtimeAnswer("request_1", ce.cancel())
        answer.begin("r")
        for event in events:
            answer.take(event)
        async with asyncio.timeout(WAIT_S):
            return await act(answer)

    return run_jumping(run())


def test_text_arrives_in_order_and_then_the_end() -> None:
    events = (TextCame("r", "i", "One "), TextCame("r", "i", "two."), ResponseEnded("r", "completed"))
    assert with_answer(parts_of, *events) == ["One ", "two."]


def test_audio_keeps_its_transcript_and_loses_no_millisecond() -> None:
    events = (
        WordsCame("r", "i", "Hello."),
        SoundCame("r", "i", bytes(60 * MS_BYTES)),
        SoundCame("r", "i", bytes(40 * MS_BYTES)),
        ItemEnded("r", "i"),
        ResponseEnded("r", "completed"),
    )
    sounds = [part for part in with_answer(parts_of, *events) if isinstance(part, Sound)]
    assert sum(sound.ms for sound in sounds) == 100
    assert "".join(sound.text for sound in sounds) == "Hello."


def test_a_call_that_the_end_repeats_is_delivered_once() -> None:
    assert with_answer(parts_of, ItemEnded("r", "i", CALL), ResponseEnded("r", "completed", calls=(("i", CALL),))) == [
        CALL
    ]


def test_a_call_that_only_the_end_names_is_delivered() -> None:
    assert with_answer(parts_of, ResponseEnded("r", "completed", calls=(("i", CALL),))) == [CALL]


def test_nothing_is_delivered_after_the_end() -> None:
    events = (TextCame("r", "i", "One."), ResponseEnded("r", "completed"), TextCame("r", "i", "late"))
    assert with_answer(parts_of, *events, ResponseEnded("r", "failed", code="server_error")) == ["One."]


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("ended", "error"),
    [
        (ResponseEnded("r", "failed", code="rate_limit_exceeded"), ErrorClass.RATE_LIMIT),
        (ResponseEnded("r", "incomplete", reason="content_filter"), ErrorClass.UNKNOWN),
        (ResponseEnded("r", "cancelled", reason="turn_detected"), ErrorClass.SERVER_ERROR),
    ],
)
def test_a_response_that_ends_without_a_part_is_a_failure(ended: ResponseEnded, error: ErrorClass) -> None:
    with pytest.raises(ServiceError) as failed:
        with_answer(parts_of, ended)
    assert failed.value.error is error


def test_a_response_that_is_cut_short_after_its_first_part_is_no_failure() -> None:
    assert with_answer(parts_of, TextCame("r", "i", "So"), ResponseEnded("r", "incomplete", "max_tokens")) == ["So"]


def test_only_the_end_is_missing_when_every_item_has_ended() -> None:
    async def act(answer: RealtimeAnswer) -> list[Part]:
        assert not answer.is_at_tail, "the second item goes on"
        answer.take(ItemEnded("r", "j"))
        assert answer.is_at_tail
        answer.end_without_event()
        return await parts_of(answer)

    events = (ItemBegan("r", "i", True), TextCame("r", "i", "One."), ItemEnded("r", "i"), ItemBegan("r", "j", False))
    assert with_answer(act, *events) == ["One."]
