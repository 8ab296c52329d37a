"""Reading a service's stream so that it is closed for real when nobody reads it any more; and signs of life between its
parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def reading(stream: AsyncIterator[T]) -> AsyncIterator[AsyncIterator[T]]:
    """The stream, closed at the end. An iterator that can't be closed is just left."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


async def signed(stream: AsyncIterator[T], every_s: float) -> AsyncIterator[T | None]:
    """The stream, with None whenever the next part has been waited for so long again."""
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
    """The next part, or nothing at the end."""
    async for part in stream:
        return [part]
    return []
