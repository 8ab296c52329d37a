"""Reading a service's stream so that it is closed for real when nobody reads it any more."""

from __future__ import annotations

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
