"""Ears over a stream of a service, on the simulated clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ears.service_stream import END_S_MAX, TEXT_MS_MAX, listen_with
from duologue.ears.service_utterances import Given, OnsetHeard, SilenceHeard, TextHeard
from duologue.ports import ServiceError
from duologue.ports.ears import Discard, Final, Frame, Heard, Incoming, Sounding, SpeechBegan, TurnOver
from duologue.runtime.simulated_clock import run_simulated

FRAME = Frame(bytes(640))


class Stream:
    """A stream that a test writes: what the service hears, each after some seconds."""

    def __init__(self, *heard: tuple[float, Given | Exception], ends: bool = True) -> None:
        self.heard, self.ends = heard, ends
        self.at_ms = self.flushes = 0
        self.has_ended = self.is_closed = False

    def push(self, frame: Frame) -> None:
        self.at_ms += 20

    def flush(self) -> None:
        self.flushes += 1

    def end(self) -> None:
        self.has_ended = True

    async def __aiter__(self) -> AsyncIterator[Given]:
        for after_s, given in self.heard:
            await asyncio.sleep(after_s)
            if isinstance(given, Exception):
                raise given
            yield given
        if not self.ends:
            await asyncio.Event().wait()

    async def close(self) -> None:
        self.is_closed = True


async def line(*items: Incoming, lasts_s: float = 0.0) -> AsyncIterator[Incoming]:
    for item in items:
        yield item
        await asyncio.sleep(0.02)
    await asyncio.sleep(lasts_s)


def hear(stream: Stream, *items: Incoming, lasts_s: float = 0.0, judges: bool = False) -> tuple[list[Heard], float]:
    async def work() -> tuple[list[Heard], float]:
        found = [one async for one in listen_with(stream, line(*items, lasts_s=lasts_s), judges, TEXT_MS_MAX)]
        return found, asyncio.get_running_loop().time()

    found = run_simulated(work())
    assert stream.is_closed
    return found


def test_a_final_text_that_never_comes_is_replaced_after_the_time_limit() -> None:
    stream = Stream((0.1, OnsetHeard()), (0.2, TextHeard("two tick")), (0.1, SilenceHeard()), ends=False)
    heard, took_s = hear(stream, *[FRAME] * 10, lasts_s=5)
    assert heard[-1] == Final("two tick", 1.0, 1)
    assert took_s >= 5


def test_the_end_of_the_audio_ends_everything() -> None:
    stream = Stream((0.1, OnsetHeard()), (0.1, TextHeard("yes")), ends=False)
    heard, took_s = hear(stream, *[FRAME] * 30)
    assert heard[-1] == Final("yes", 1.0, 1)
    assert stream.has_ended
    assert took_s == pytest.approx(0.6 + END_S_MAX, abs=0.1)


def test_a_service_that_judges_turns() -> None:
    stream = Stream((0.1, OnsetHeard()), (0.1, SilenceHeard()), ends=False)
    assert TurnOver(1) in hear(stream, *[FRAME] * 30, judges=True)[0]


def test_markers_flush_the_service() -> None:
    stream = Stream((0.01, OnsetHeard()), ends=False)
    heard, _ = hear(stream, FRAME, FRAME, Sounding(True), Discard(1), FRAME)
    assert stream.flushes == 1
    assert not any(isinstance(one, Final) and one.text for one in heard)
    assert heard[0] == SpeechBegan(1)


def test_a_failure_is_raised() -> None:
    down = ServiceError(ErrorClass.RATE_LIMIT, "no more")
    with pytest.raises(ServiceError, match="no more"):
        hear(Stream((0.1, OnsetHeard()), (0.1, down)), *[FRAME] * 50)


def test_a_stream_that_ends_before_the_audio_is_a_failure() -> None:
    with pytest.raises(ServiceError, match="before the audio ended"):
        hear(Stream((0.1, OnsetHeard()), (0.1, SilenceHeard())), *[FRAME] * 50)
