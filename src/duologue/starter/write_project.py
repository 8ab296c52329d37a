"""Writes the starter project into a folder.

Rule: existing files are never overwritten.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from duologue.core.errors import DuologueError

PROJECT = Path(__file__).parent / "project"
FILES = (
    "README.md",
    "agent.py",
    "flights.yaml",
    "actions.py",
    "cities.txt",
    "flights.stories.yaml",
    "test_agent.py",
)


def write_project(folder: Path) -> tuple[Path, ...]:
    """Write the project into a folder that is new or empty. Returns the paths of its files."""
    taken = [name for name in FILES if (folder / name).exists()]
    if taken:
        raise DuologueError(f"{folder} already contains {taken[0]}; choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            shutil.copyfile(PROJECT / name, folder / name)
    except OSError as problem:
        raise DuologueError(f"{folder} can't be written: {problem.strerror}") from None
    return tuple(folder / name for name in FILES)
