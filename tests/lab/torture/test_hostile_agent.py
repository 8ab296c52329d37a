"""The agent of a hostile run: what its ears hear, and when its brain calls the tool."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from duologue.core.leaves import Outcome
from duologue.lab.torture.hostile_agent import LOUD, BusyEars, HostileBrain, burn
from duologue.ports.brain import Request
from duologue.ports.ears import Final, Frame, Incoming, SpeechBegan, SpeechEnded
from duologue.ports.history import CallOutput
from duologue.ports.tool_call import ToolCall

SPEECH = Frame((2 * LOUD).to_bytes(2, "little") * 320)
SILENCE = Frame(bytes(640))


def test_each_loud_utterance_is_heard_once() -> None:
    async def audio() -> AsyncIterator[Incoming]:
        for frame in [*[SPEECH] * 20, *[SILENCE] * 10] * 2:
            yield frame

    async def main() -> list[object]:
        return [heard async for heard in BusyEars().listen(audio())]

    heard = asyncio.run(main())
    assert [type(one) for one in heard] == [SpeechBegan, SpeechEnded, Final] * 2
    assert [one.text for one in heard if isinstance(one, Final)] == ["spoken", "spoken"]


def test_the_brain_lets_its_tool_sleep_as_often_as_it_is_told() -> None:
    async def reply(text: str, *outputs: CallOutput) -> list[object]:
        request = Request(reply=1, text=text, history=outputs, outputs=outputs)
        return [part async for part in HostileBrain().reply(request)]

    assert asyncio.run(reply("hello")) == ["done."]
    assert asyncio.run(reply("sleep 50 2")) == [ToolCall("doze", {"ms": 50})] * 2
    assert asyncio.run(reply("sleep 50", CallOutput(1, "rested", Outcome.DONE, "doze"))) == ["done."]
    refused = CallOutput(1, "{}", Outcome.REFUSED, "doze")
    assert asyncio.run(reply("sleep 50", refused)) == ["refused."], "an honest caller notices that"


def test_burning_uses_the_cpu_of_this_thread() -> None:
    before_s = time.thread_time()
    burn(5.0)
    assert time.thread_time() - before_s >= 0.005
