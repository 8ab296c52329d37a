"""Lets only one process at a time run a block of code, by a lock on a file.

The operating system releases the lock when the process that holds it ends. Rule: the lock file is never deleted.
Otherwise one process could hold a lock on the deleted file while another process holds a lock on a new file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .failure import PullFailed

_POLL_S = 0.1
_WAIT_S_MAX = 1_800.0


@contextmanager
def only_one(file: Path, on_wait: Callable[[], None], wait_s_max: float = _WAIT_S_MAX) -> Iterator[None]:
    """Hold the lock on `file` during the `with` block. If another process holds the lock, `on_wait` is called one time,
    and then this function waits. Raises `PullFailed` after `wait_s_max` seconds."""
    with file.open("a+b") as handle:
        if not _try_lock(handle):
            on_wait()
            _wait(handle, file, wait_s_max)
        try:
            yield
        finally:
            _unlock(handle)


def _wait(handle: IO[bytes], file: Path, wait_s_max: float) -> None:
    until = time.monotonic() + wait_s_max
    while not _try_lock(handle):
        if time.monotonic() > until:
            raise PullFailed(
                f"another process has held {file} for {wait_s_max:.0f} s: wait for it to end, then try again"
            )
        time.sleep(_POLL_S)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: IO[bytes]) -> bool:
        try:
            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(handle: IO[bytes]) -> None:
        handle.seek(0)
        msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: IO[bytes]) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: IO[bytes]) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
