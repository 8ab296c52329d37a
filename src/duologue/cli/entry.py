"""The entry point of the `duologue` command: names the extra to install if typer or rich is missing."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or exit with the command that installs what is missing."""
    try:
        from .app import main as run
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit(f"error: the command line needs {missing.name}: pip install 'duologue[cli]'")
    run()
