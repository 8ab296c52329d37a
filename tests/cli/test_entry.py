"""The entry point of the command line: the installed command starts, and says so if its packages are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_installed_command_shows_its_version() -> None:
    command = [str(Path(sys.executable).parent / "duologue"), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("duologue 0.")


def test_without_its_packages_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['typer'] = None\nfrom duologue.cli.entry import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == "error: the command line needs typer: pip install 'duologue[cli]'"


def test_the_module_of_the_entry_point_runs_the_command_too() -> None:
    command = [sys.executable, "-m", "duologue.cli.entry", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("duologue 0.")
