"""Streams of services: closed when the reader leaves, with heartbeats while a part is awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from duologue.ports.streams import reading, with_heartbeats
from duologue.testing import run_simulated


class Source:
    """A stream whose parts come after so many seconds, and that notes when it is closed."""

    def __init__(self, *waits_s: float) -> None:
        self.waits_s = waits_s
        self.is_closed = False

    async def parts(self) -> AsyncIterator[int]:
        try:
            for number, wait_s in enumerate(self.waits_s):
                await asyncio.sleep(wait_s)
                yield number
        finally:
            self.is_closed = True


def test_a_stream_is_closed_when_its_reader_leaves_early() -> None:
    source = Source(0, 0)

    async def read() -> int:
        async with reading(source.parts()) as stream:
            async for part in stream:
                return part
        raise AssertionError

    assert run_simulated(read()) == 0
    assert source.is_closed


def test_a_stream_is_closed_when_its_reader_fails() -> None:
    source = Source(0, 0)

    async def read() -> None:
        async with reading(source.parts()) as stream:
            async for _ in stream:
                raise KeyError

    with pytest.raises(KeyError):
        run_simulated(read())
    assert source.is_closed


def test_an_iterator_that_can_not_be_closed_is_read_all_the_same() -> None:
    class Endless:
        def __aiter__(self) -> Endless:
            return self

        async def __anext__(self) -> int:
            return 7

    async def read() -> int:
        async with reading(Endless()) as stream:
            return await anext(stream)

    assert run_simulated(read()) == 7


async def collected(stream: AsyncIterator[int | None]) -> list[tuple[float, int | None]]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    return [(round(loop.time() - began, 3), part) async for part in stream]


def test_a_slow_stream_has_heartbeats_and_keeps_its_parts() -> None:
    parts = run_simulated(collected(with_heartbeats(Source(0.6, 0.1, 0.3).parts(), 0.25)))
    assert parts == [(0.25, None), (0.5, None), (0.6, 0), (0.7, 1), (0.95, None), (1.0, 2)]


def test_a_stream_that_fails_between_heartbeats_raises_its_own_error() -> None:
    async def broken() -> AsyncIterator[int]:
        await asyncio.sleep(0.3)
        raise LookupError
        yield 1

    with pytest.raises(LookupError):
        run_simulated(collected(with_heartbeats(broken(), 0.25)))


def test_leaving_between_heartbeats_cancels_and_closes_the_stream() -> None:
    source = Source(60)

    async def leave() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with reading(with_heartbeats(source.parts(), 0.25)) as stream:
            assert await anext(stream) is None
        return loop.time() - began

    assert run_simulated(leave()) == pytest.approx(0.25), "it isn't waited for"
    assert source.is_closed
