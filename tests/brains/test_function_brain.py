"""A plain function as a brain: what it returns or yields is the reply."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from duologue.brains.function_brain import FunctionBrain, as_brain
from duologue.brains.scripted import ScriptedBrain
from duologue.ports import Part, Request, ToolCall

CALL = ToolCall("look", {})


def returns_text(request: Request) -> str:
    return f"You said {request.text}."


def returns_a_list(request: Request) -> list[Part]:
    return ["One moment. ", CALL]


def returns_a_call(request: Request) -> ToolCall:
    return CALL


def returns_nothing(request: Request) -> None:
    return None


def yields(request: Request) -> Iterator[Part]:
    yield "One "
    yield "two."


async def is_async(request: Request) -> str:
    return "Later."


async def streams(request: Request) -> AsyncIterator[Part]:
    yield "One "
    yield CALL


class Caller:
    async def __call__(self, request: Request) -> str:
        return "Called."


def reply_of(function: Any) -> list[Part]:
    async def run() -> list[Part]:
        return [part async for part in as_brain(function).reply(Request(1, "hello"))]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (returns_text, ["You said hello."]),
        (returns_a_list, ["One moment. ", CALL]),
        (returns_a_call, [CALL]),
        (returns_nothing, []),
        (yields, ["One ", "two."]),
        (is_async, ["Later."]),
        (streams, ["One ", CALL]),
        (Caller(), ["Called."]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_the_result_of_a_function_is_the_reply(function: Any, parts: list[Part]) -> None:
    assert reply_of(function) == parts


def test_a_function_that_is_not_async_runs_in_a_thread() -> None:
    def name_of_thread(request: Request) -> str:
        return threading.current_thread().name

    assert reply_of(name_of_thread) != [threading.main_thread().name]


def test_closing_the_reply_closes_the_functions_stream() -> None:
    closed = []

    async def endless(request: Request) -> AsyncIterator[Part]:
        try:
            while True:
                yield "more "
        finally:
            closed.append(True)

    async def run() -> None:
        reply = FunctionBrain(endless).reply(Request(1, "hello"))
        assert await anext(reply) == "more "
        await reply.aclose()  # type: ignore[attr-defined]

    asyncio.run(run())
    assert closed == [True]


def test_a_brain_is_returned_unchanged() -> None:
    brain = ScriptedBrain()
    assert as_brain(brain) is brain


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        (ScriptedBrain, r"not the class ScriptedBrain: did you mean ScriptedBrain\(\)\?"),
        (lambda: "hi", "takes one argument, the request; <lambda> doesn't"),
        ("hi", r"must have a method reply\(request\) or be a function that takes the request, not 'hi'"),
    ],
)
def test_anything_else_is_refused_when_the_agent_is_created(wrong: object, advice: str) -> None:
    with pytest.raises(TypeError, match=advice):
        as_brain(wrong)
