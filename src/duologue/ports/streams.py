"""Helpers that read the stream of a service, close it reliably, and add heartbeats between its parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def reading(stream: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """Give the stream to the `with` block, and close the stream when the block ends. An iterator without `aclose` isn't
    closed."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


async def in_time(stream: AsyncIterator[T], ms_max: int) -> AsyncIterator[T]:
    """The parts of the stream. Raises TimeoutError if a part after the first one takes longer than `ms_max`. The wait
    for the first part isn't limited here."""
    limit_s: float | None = None
    while True:
        async with asyncio.timeout(limit_s):
            found = await _next(stream)
        if not found:
            return
        limit_s = ms_max / 1000
        yield found[0]


async def with_heartbeats(stream: AsyncIterator[T], every_s: float) -> AsyncIterator[T | None]:
    """The parts of the stream, with a None after every `every_s` seconds of waiting for the next part."""
    async with reading(stream):
        while True:
            waiting = asyncio.ensure_future(_next(stream))
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


async def _next(stream: AsyncIterator[T]) -> list[T]:
    """The next part in a list, or an empty list at the end of the stream."""
    async for part in stream:
        return [part]
    return []
