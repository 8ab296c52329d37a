"""Finds the source files of a folder that have changed, by comparing their sizes and the times of their last change.

Rule: hidden folders, virtual environments and caches aren't searched, and at most FILES_MAX files are compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

FILES_MAX = 5_000
SUFFIXES = (".py", ".yaml", ".yml", ".toml", ".txt", ".md", ".json")
_SKIPPED = ("__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env")

Stamps: TypeAlias = Mapping[Path, tuple[int, int]]  # of each file: the time of its last change, and its size


def read_stamps(folder: Path) -> dict[Path, tuple[int, int]]:
    """The stamps (time of the last change, and size) of the source files in this folder."""
    stamps: dict[Path, tuple[int, int]] = {}
    for path in _files(folder):
        if len(stamps) >= FILES_MAX:
            break
        try:
            found = path.stat()
        except OSError:  # deleted meanwhile
            continue
        stamps[path] = (found.st_mtime_ns, found.st_size)
    return stamps


def changed_files(before: Stamps, after: Stamps) -> tuple[Path, ...]:
    """The files that were added, changed or deleted, sorted."""
    return tuple(sorted(path for path in {*before, *after} if before.get(path) != after.get(path)))


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        yield from (Path(place, name) for name in sorted(names) if name.endswith(SUFFIXES))
