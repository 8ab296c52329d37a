"""Pauses of a thread that computes for long, so that the event loop doesn't wait for it.

Only one thread of a Python process computes at a time. If a thread never pauses, the event loop waits for it for about
a millisecond each time that it has sent, read or stored something, and the start of a conversation does that a hundred
times. Rule: the pauses are in the thread that computes, never in the event loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
WORK_S = 0.001
PAUSE_S = 0.003


def with_pauses(
    items: Iterable[T],
    work_s: float = WORK_S,
    pause_s: float = PAUSE_S,
    now_s: Callable[[], float] = time.perf_counter,
    pause: Callable[[float], object] = time.sleep,
) -> Iterator[T]:
    """Yield the items. Whenever the work on them has taken `work_s` seconds, pause for `pause_s` seconds."""
    since_s = now_s()
    for item in items:
        yield item
        if now_s() - since_s >= work_s:
            pause(pause_s)
            since_s = now_s()
