"""A sentence that is made in a thread: read in order, stopped with its reader, and ended if it hangs."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import pytest

from duologue.ports import Sound
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice import sentence_thread
from duologue.voice.sentence_thread import Send, read_sentence
from tests.limits import WAIT_S

THREADS = ThreadPoolExecutor(1)


def four_sounds(send: Send) -> None:
    for ms in (10, 20, 30, 40):
        if not send([Sound(ms)]):
            return


async def read() -> list[int]:
    return [sound.ms async for sound in read_sentence(THREADS, four_sounds)]


def test_sounds_arrive_in_order_in_real_and_in_simulated_time() -> None:
    assert asyncio.run(read()) == [10, 20, 30, 40]
    assert run_simulated(read()) == [10, 20, 30, 40]


def test_the_synthesis_ends_at_its_next_sound_when_the_reader_stops() -> None:
    may_go_on, sent = threading.Event(), []

    def make(send: Send) -> None:
        for ms in range(1, 100):
            sent.append(ms)
            if not send([Sound(ms)]):
                return
            may_go_on.wait(WAIT_S)

    async def run() -> None:
        async with aclosing(read_sentence(THREADS, make)) as sounds:
            await anext(sounds)
        may_go_on.set()

    asyncio.run(run())
    THREADS.submit(lambda: None).result(WAIT_S)
    assert len(sent) <= 2


def test_a_failure_reaches_the_reader() -> None:
    def make(send: Send) -> None:
        send([Sound(10)])
        raise RuntimeError("a mistake")

    async def run() -> None:
        async with aclosing(read_sentence(THREADS, make)) as sounds:
            assert (await anext(sounds)).ms == 10
            with pytest.raises(RuntimeError, match="a mistake"):
                await anext(sounds)

    asyncio.run(run())


@pytest.mark.parametrize("has_reader", [True, False])
def test_a_synthesis_that_hangs_is_ended_with_or_without_its_reader(
    has_reader: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentence_thread, "LATE_S", 0.01)
    ended = threading.Event()

    def hang(send: Send) -> None:
        send([Sound(10)])
        ended.wait(WAIT_S)

    async def run() -> None:
        async with aclosing(read_sentence(THREADS, hang, ended.set)) as sounds:
            await anext(sounds)
            if has_reader:
                assert [sound async for sound in sounds] == []
        await asyncio.to_thread(ended.wait, WAIT_S)

    asyncio.run(run())
    assert ended.is_set()
