"""Helpers that read the stream of a service, close it reliably, and add heartbeats between its parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

from .answering import go_on_answering

T = TypeVar("T")


class reading(Generic[T]):  # noqa: N801 - used like a function
    """Use the stream in an `async with` block, and close it when the block ends. An iterator without `aclose` isn't
    closed."""

    __slots__ = ("_stream",)

    def __init__(self, stream: AsyncIterator[T]) -> None:
        self._stream = stream

    async def __aenter__(self) -> AsyncIterator[T]:
        return self._stream

    async def __aexit__(self, *_: object) -> None:
        close = getattr(self._stream, "aclose", None)
        if close is not None:
            await close()


async def in_time(stream: AsyncIterator[T], ms_max: int) -> AsyncIterator[T]:
    """Yield the parts of the stream. Raises TimeoutError if the next part takes longer than `ms_max`. The wait for the
    first part isn't limited."""
    found = await _next(stream)
    while found:
        yield found[0]
        async with asyncio.timeout(ms_max / 1000):
            found = await _next(stream)


async def with_heartbeats(stream: AsyncIterator[T], every_s: float) -> AsyncIterator[T | None]:
    """Yield the parts of the stream. While the next part isn't ready, yield None every `every_s` seconds."""
    async with reading(stream):
        while True:
            waiting = asyncio.ensure_future(_next_of_answer(stream))
            try:
                while not (await asyncio.wait([waiting], timeout=every_s))[0]:
                    yield None
            finally:
                if not waiting.done():
                    waiting.cancel()
                    await asyncio.wait([waiting])
            found = waiting.result()
            if not found:
                return
            yield found[0]


async def _next_of_answer(stream: AsyncIterator[T]) -> list[T]:
    go_on_answering()
    return await _next(stream)


async def _next(stream: AsyncIterator[T]) -> list[T]:
    """The next part of the stream, as a list with one element; an empty list at the end of the stream."""
    async for part in stream:
        return [part]
    return []
