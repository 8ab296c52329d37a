"""Logs which line of code blocks the event loop: a hook, a brain or a tool that sleeps or computes and doesn't await.

A thread checks regularly whether the loop still runs. Rule: the thread changes nothing, and reports each blockage only
one time.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Self

LOG = logging.getLogger("duologue.server")
BLOCKED_S = 2.0
LOOK_S = 1.0
AGAIN_S = 0.2  # a process that was suspended has this long to run its loop again
_OWN = str(Path(__file__).parents[1])
_INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


class BlockedLoopWatch:
    """Watches the event loop that runs in this thread. Use it with `with`. When the loop is blocked, `tell` is called
    with the file, line and function of the code that blocks it."""

    def __init__(self, tell: Callable[[str], None], blocked_s: float = BLOCKED_S) -> None:
        self._tell = tell
        self._blocked_s = blocked_s
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._over = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._watch, name="blocked-loop", daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(min(LOOK_S, self._blocked_s)):
            turned = threading.Event()
            try:
                self._loop.call_soon_threadsafe(turned.set)
            except RuntimeError:
                return  # the loop is closed
            if turned.wait(self._blocked_s) or turned.wait(AGAIN_S):
                continue
            frame = sys._current_frames().get(self._thread)
            if frame is not None and not self._over.is_set():
                self._tell(place_of(frame))
            while not turned.wait(LOOK_S) and not self._over.is_set():
                pass


def place_of(frame: FrameType) -> str:
    """The innermost line of this stack that is in the user's own program, written as `file:line in function`. If no
    line is in the user's program, the result is the innermost line of the whole stack."""
    stack = traceback.extract_stack(frame)
    own = [one for one in stack if not one.filename.startswith((_OWN, *_INSTALLED, "<"))]
    newest = (own or list(stack))[-1]
    return f"{newest.filename}:{newest.lineno} in {newest.name}"


def warn(place: str) -> None:
    """Log what blocks the event loop."""
    LOG.warning(
        "the event loop is blocked by %s: all calls of this process wait; use await, or asyncio.to_thread", place
    )
