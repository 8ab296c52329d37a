"""Where the `duologue` command begins: says plainly what to install when its parts are missing."""

from __future__ import annotations

import sys


def main() -> None:
    """Start the command line, or say what it needs."""
    try:
        from .app import main as run
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit(f"error: the command line needs {missing.name}: pip install 'duologue[cli]'")
    run()
