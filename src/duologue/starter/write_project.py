"""Writes the starter project, or one of the examples, into a folder that the user chooses.

Rule: a file that exists is never overwritten.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
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
_PACKAGE = Path(__file__).parents[1]


def write_project(folder: Path) -> tuple[Path, ...]:
    """Write the starter project. Returns the paths of the written files."""
    return _copy([PROJECT / name for name in FILES], folder)


def write_example(name: str, folder: Path) -> tuple[Path, ...]:
    """Write one example, with every file that it mentions. Returns the paths of the written files."""
    return _copy(example_files(name), folder)


def example_names() -> list[str]:
    """The names of the examples. An example is either a flow file with a file of functions, or an agent in one file."""
    return sorted({path.name.partition(".")[0] for path in _sources()})


def example_files(name: str) -> list[Path]:
    """The files of an example: the files with its name, and the files in the same folder that these files mention."""
    found = [path for path in _sources() if path.name.partition(".")[0] == name]
    if not found:
        raise DuologueError(f"unknown example {name!r}; use one of {', '.join(example_names())}")
    for path in found:  # the list grows during the loop
        text = path.read_text(encoding="utf-8")
        for other in sorted(path.parent.iterdir()):
            if other.is_file() and other.name in text and other not in found:
                found.append(other)
    return found


def examples_folder() -> Path:
    """The folder of the examples. It is in the installed package; if the package is imported from a git checkout, it is
    in the checkout."""
    installed = _PACKAGE / "examples"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "examples"


def _sources() -> list[Path]:
    folder = examples_folder()
    return sorted([*folder.glob("*.yaml"), *folder.glob("*.py"), *folder.glob("cookbook/*.py")])


def _copy(files: Sequence[Path], folder: Path) -> tuple[Path, ...]:
    taken = [file.name for file in files if (folder / file.name).exists()]
    if taken:
        raise DuologueError(f"{folder} already has {taken[0]}; choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            shutil.copyfile(file, folder / file.name)
    except OSError as problem:
        raise DuologueError(f"{folder} can't be written: {problem.strerror}") from None
    return tuple(folder / file.name for file in files)
