"""Finds the functions that a flow file uses, in a module or in the Python file next to the flow file.

Rule: any error while importing that module is reported in one line.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from duologue.core.errors import DuologueError

from .registry import Registry


def find_functions(file: Path | str, actions: str | None = None) -> Registry:
    """A registry of the functions in the module `actions`. If `actions` is None, a Python file in the folder of the
    flow file takes the place of this module: the file with the same name as the flow file, or else `actions.py`.
    Without such a file, the registry is empty."""
    file = Path(file)
    sys.path.insert(0, str(file.resolve().parent))
    sys.path.insert(0, str(Path.cwd()))
    beside = (name for name in (file.stem, "actions") if file.with_name(f"{name}.py").is_file())
    name = actions or next(beside, "")
    if not name:
        return Registry()
    try:
        return Registry.of(importlib.import_module(name))
    except Exception as failure:  # noqa: BLE001 - a module may do anything when it is imported
        why = " ".join(str(failure).split())
        raise DuologueError(
            f"module {name!r} with the actions can't be imported: {type(failure).__name__}: {why}"
        ) from None
