"""The entry point of the `duologue` command. If typer or rich is missing, the command says what to install."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. If typer or rich is missing, exit with a message that names the command to install it."""
    try:
        from .app import main as run
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit(f"error: the command line needs {missing.name}: pip install 'duologue[cli]'")
    run()


if __name__ == "__main__":
    main()
