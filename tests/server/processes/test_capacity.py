"""How many processes are started: a table of what was asked for and what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.core.errors import DuologueError
from duologue.server.processes.capacity import Capacity, ProcessCount, choose_count, read_capacity, this_system

ROOMY = Capacity(4, 64_000)


@pytest.mark.parametrize(
    ("asked", "store", "is_demo", "capacity", "system", "count"),
    [
        (None, "sqlite:", False, ROOMY, "linux", 4),
        (None, "postgresql://db", False, ROOMY, "linux", 4),
        (None, "none", False, ROOMY, "linux", 4),
        (None, "sqlite:", True, ROOMY, "linux", 1),  # one person tries it, and it should start soon
        (3, "sqlite:", True, ROOMY, "linux", 3),
        (8, "sqlite:", False, ROOMY, "linux", 8),
        (1, "memory:", False, ROOMY, "linux", 1),
        (2, "memory", False, ROOMY, "linux", 2),  # a file of that name
        (None, "sqlite:", False, Capacity(1, 64_000), "linux", 1),
        (None, "memory:", False, Capacity(1, 64_000), "linux", 1),
        (None, "sqlite:", False, Capacity(4, None), "linux", 4),
        (None, "sqlite:", False, ROOMY, "darwin", 1),
        (None, "sqlite:", False, ROOMY, "win32", 1),
        (1, "sqlite:", False, ROOMY, "win32", 1),
    ],
)
def test_there_is_a_process_for_each_core(
    asked: int | None, store: str, is_demo: bool, capacity: Capacity, system: str, count: int
) -> None:
    assert choose_count(asked, store, is_demo, lambda: capacity, system) == ProcessCount(count)


@pytest.mark.parametrize(
    ("store", "capacity", "count", "said"),
    [
        ("memory:", ROOMY, 1, "a store in memory belongs to one process"),
        ("sqlite:", Capacity(16, 5_500), 5, "5 of 16 cores are used"),
        ("sqlite:", Capacity(4, 300), 1, "1 of 4 cores are used"),
    ],
)
def test_fewer_processes_than_cores_are_explained_in_one_line(
    store: str, capacity: Capacity, count: int, said: str
) -> None:
    chosen = choose_count(None, store, False, lambda: capacity, "linux")
    assert chosen.processes == count
    assert said in chosen.note
    assert "\n" not in chosen.note


@pytest.mark.parametrize(
    ("asked", "store", "system", "said"),
    [
        (0, "sqlite:", "linux", "from 1 to 256, not 0"),
        (257, "sqlite:", "linux", "from 1 to 256, not 257"),
        (2, "memory:", "linux", "a store in memory belongs to one process; use --workers 1"),
        (2, "MEMORY:", "linux", "a store in memory belongs to one process; use --workers 1"),
        (2, "sqlite:", "darwin", "only on Linux; use --workers 1"),
        (2, "sqlite:", "win32", "only on Linux; use --workers 1"),
    ],
)
def test_a_number_that_cannot_work_is_refused(asked: int, store: str, system: str, said: str) -> None:
    with pytest.raises(DuologueError, match=said):
        choose_count(asked, store, False, lambda: ROOMY, system)


def machine(root: Path, **files: str) -> Path:
    """A file system with these files, such as `sys__fs__cgroup__cpu.max`."""
    for name, text in files.items():
        file = root / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_a_container_may_use_less_than_the_machine_has(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        proc__meminfo="MemTotal: 8000000 kB\nMemAvailable: 4096000 kB\n",
        sys__fs__cgroup__cpu_dot_max="50000 100000\n",
        sys__fs__cgroup__memory_dot_max=str(900 << 20),
        sys__fs__cgroup__memory_dot_current=str(100 << 20),
    )
    assert read_capacity(root) == Capacity(1, 800)


def test_a_machine_without_limits_and_one_that_tells_nothing(tmp_path: Path) -> None:
    free = machine(
        tmp_path / "free",
        proc__meminfo="MemAvailable: 4096000 kB\n",
        sys__fs__cgroup__cpu_dot_max="max 100000\n",
        sys__fs__cgroup__memory_dot_max="max\n",
        sys__fs__cgroup__memory_dot_current="1\n",
    )
    assert read_capacity(free).memory_mb == 4_000
    assert read_capacity(free).cores == read_capacity(tmp_path / "nothing").cores >= 1
    assert read_capacity(tmp_path / "nothing").memory_mb is None


def test_the_system_is_that_of_this_python() -> None:
    assert this_system() in ("linux", "darwin", "win32")
