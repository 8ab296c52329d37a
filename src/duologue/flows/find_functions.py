"""Finding the functions of a file of flows: in a module, or in the Python file beside it.

Rule: whatever a module does when it is imported, what goes wrong is one line.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from duologue.core.errors import DuologueError

from .registry import Registry


def find_functions(file: Path, actions: str | None) -> Registry:
    """The functions of a file of flows: of a module, or of the Python file beside it."""
    sys.path.insert(0, str(file.resolve().parent))
    sys.path.insert(0, str(Path.cwd()))
    name = actions or (file.stem if file.with_suffix(".py").is_file() else "")
    if not name:
        return Registry()
    try:
        return Registry.of(importlib.import_module(name))
    except Exception as failure:  # noqa: BLE001 - a module may do anything when it is imported
        why = " ".join(str(failure).split())
        raise DuologueError(f"actions: {name} can't be imported: {type(failure).__name__}: {why}") from None
