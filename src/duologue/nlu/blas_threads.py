"""Limits numpy to one thread while the NLU processes a message.

BLAS, the library behind numpy's matrix products, splits even a product that takes only 5 ms over all cores and waits
for the slowest core. On a server whose other cores are busy, the same product takes 300 ms. So BLAS is limited to one
thread during a computation, and the limit is removed afterwards. Rule: if threadpoolctl isn't installed, the
computation runs without the limit.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy  # noqa: F401 - loads its BLAS, so that it is found below

_lock = threading.Lock()
_users = 0
_limit: Any = None


@contextmanager
def one_core() -> Iterator[None]:
    """Let numpy's matrix products use only one thread within this block. This also affects other code that uses numpy
    at the same time.

    Blocks may overlap. The limit is removed when the last of them ends.
    """
    global _users, _limit
    controller = _blas()
    with _lock:
        if _users == 0 and controller is not None:
            _limit = controller.limit(limits=1, user_api="blas")
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _limit is not None:
                _limit.restore_original_limits()
                _limit = None


@cache
def _blas() -> Any:
    """An object that can limit the threads of the BLAS libraries in this process; None if threadpoolctl isn't
    installed."""
    try:
        return importlib.import_module("threadpoolctl").ThreadpoolController()
    except ModuleNotFoundError as missing:
        if missing.name != "threadpoolctl":
            raise
        return None
