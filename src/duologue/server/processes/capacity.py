"""Decides how many server processes `duologue serve` starts, and explains why there aren't more.

The default is one process for each core that this process may use. It is fewer if there isn't enough memory, because
each process loads its own models. Rule: a number that the user asks for is either used exactly, or refused with an
error that says why.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from duologue.core.errors import DuologueError

MB_PER_PROCESS = 1_000  # all models, their working memory and a few hundred conversations
PROCESSES_MAX = 256


class Capacity(NamedTuple):
    """The cores and the memory that this process may use."""

    cores: int
    memory_mb: int | None  # None: unknown


class ProcessCount(NamedTuple):
    """How many processes to start, and a line that explains the number to the user; empty if it needs no
    explanation."""

    processes: int
    note: str = ""


def choose_count(
    asked: int | None, store: str, is_demo: bool, capacity: Callable[[], Capacity], system: str
) -> ProcessCount:
    """How many processes to start. `asked` is the number that the user asked for; None if the user didn't ask for one.
    Raises DuologueError if that number can't work."""
    why = _why_one(store, system)
    if asked is not None:
        if not 1 <= asked <= PROCESSES_MAX:
            raise DuologueError(f"--workers must be from 1 to {PROCESSES_MAX}, not {asked}")
        if asked > 1 and why:
            raise DuologueError(f"--workers {asked}: {why}; use --workers 1")
        return ProcessCount(asked)
    if is_demo or system != "linux":
        return ProcessCount(1)
    found = capacity()
    if found.cores > 1 and why:
        return ProcessCount(1, f"One worker: {why}.")
    fits = found.cores if found.memory_mb is None else min(found.cores, found.memory_mb // MB_PER_PROCESS)
    count = max(1, min(fits, PROCESSES_MAX))
    note = f"{count} of {found.cores} cores are used: each worker may need {MB_PER_PROCESS} MB of memory."
    return ProcessCount(count, note if count < min(found.cores, PROCESSES_MAX) else "")


def _why_one(store: str, system: str) -> str:
    if system != "linux":
        return "several processes can share a port only on Linux"
    if store.lower().startswith("memory:"):
        return "a store in memory belongs to one process"
    return ""


# -- What there is


def read_capacity(root: Path = Path("/")) -> Capacity:
    """How many cores and how much memory this process may use: what the computer has, or less if a container limits it.
    `root` is the root of the file system, for tests."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Capacity(min(cores, _cores_of_container(root) or cores), _memory_mb(root))


def this_system() -> str:
    return sys.platform


def _cores_of_container(root: Path) -> int | None:
    """The container's limit on CPU time, as a number of cores, rounded up. None if there is no limit."""
    quota, _, period = (_read(root / "sys/fs/cgroup/cpu.max") or "max").strip().partition(" ")
    if not quota.isdecimal() or not period.isdecimal() or not int(period):
        return None
    return max(1, math.ceil(int(quota) / int(period)))


def _memory_mb(root: Path) -> int | None:
    lines = (_read(root / "proc/meminfo") or "").splitlines()
    free = [int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable:")]
    limit = (_read(root / "sys/fs/cgroup/memory.max") or "").strip()
    used = (_read(root / "sys/fs/cgroup/memory.current") or "").strip()
    if limit.isdecimal() and used.isdecimal():
        free.append(max(0, int(limit) - int(used)) >> 20)
    return min(free, default=None)


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return None
