"""Starts the streams of several services, one after another, until one of them yields its first part.

If a service fails, the next service is started at once. With `after_ms`, the next service is also started if there is
no first part within this time. The first service that answers wins (a hedged request). Rule: every stream that doesn't
win is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .services import Services

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Won(Generic[T]):
    """The service that answered first, its stream, and the first part of the stream. `parts` is empty if the stream
    ended without a part."""

    index: int
    stream: AsyncIterator[T]
    parts: tuple[T, ...]


async def first_part(
    services: Services[S], tried: set[int], open_stream: Callable[[S], AsyncIterator[T]], after_ms: int | None
) -> Won[T]:
    """Return the stream of the first service that answers. Services in `tried` are left out, and services that fail are
    added to `tried`. If all services fail, raises the exception of the last failure."""
    waiting = [index for index in services.order() if index not in tried]
    running: dict[asyncio.Task[tuple[T, ...]], tuple[int, AsyncIterator[T], float]] = {}
    loop, failure = asyncio.get_running_loop(), None
    try:
        while waiting or running:
            if waiting and not (running and after_ms is None):
                _start(services, waiting.pop(0), open_stream, running)
            timeout = after_ms / 1000 if waiting and after_ms is not None else None
            done, _ = await asyncio.wait(running, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            for task in sorted(done, key=lambda one: running[one][0]):
                index, stream, began = running.pop(task)
                problem = task.exception()
                if problem is None:
                    services.note_worked(index, round((loop.time() - began) * 1000))
                    return Won(index, stream, task.result())
                if not isinstance(problem, Exception):
                    raise problem
                services.note_failed(index, problem)
                tried.add(index)
                failure = problem
                await _close(stream)
    finally:
        for task, (_, stream, _) in running.items():
            task.cancel()
            await asyncio.wait([task])
            await _close(stream)
    assert failure is not None, "there is a service to try"
    raise failure


def _start(
    services: Services[S],
    index: int,
    open_stream: Callable[[S], AsyncIterator[T]],
    running: dict[asyncio.Task[tuple[T, ...]], tuple[int, AsyncIterator[T], float]],
) -> None:
    stream = open_stream(services.all[index])
    running[asyncio.ensure_future(_first(stream))] = (index, stream, asyncio.get_running_loop().time())


async def _first(stream: AsyncIterator[T]) -> tuple[T, ...]:
    async for part in stream:
        return (part,)
    return ()


async def _close(stream: AsyncIterator[object]) -> None:
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
