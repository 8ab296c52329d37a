"""Numpy on one core while a message is understood.

OpenBLAS shares even a product of 5 ms out to all cores and waits for the slowest; where the others are busy,
as on any server, the same product takes 300 ms. So its threads are set to one while we compute, and set back
after. Other libraries beneath numpy are left as they are. Rule: what can't be set is no failure.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

_FORMS = ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}")

_lock = threading.Lock()
_inside = 0
_before = 0


@contextmanager
def one_core() -> Iterator[None]:
    """Within this, and in whatever else runs meanwhile, numpy's products take one thread."""
    global _inside, _before
    get, put = _switches()
    with _lock:
        if _inside == 0:
            _before = get()
            put(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                put(_before)


@cache
def _switches() -> tuple[Callable[[], int], Callable[[int], None]]:
    """How to ask for the number of threads, and how to set it."""
    package = Path(np.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".libs", package / ".dylibs")
    for path in sorted(path for folder in folders if folder.is_dir() for path in folder.glob("*openblas*")):
        try:
            library = ctypes.CDLL(str(path))  # loaded long since: this only finds it
        except OSError:
            continue
        for form in _FORMS:
            get = getattr(library, form.format("get_num_threads"), None)
            put = getattr(library, form.format("set_num_threads"), None)
            if get is not None and put is not None:
                return get, put
    return (lambda: 0), (lambda _threads: None)
