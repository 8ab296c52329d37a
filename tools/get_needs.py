"""Gets what the tests need besides Python packages: `python tools/get_needs.py`.

Reads the one list in tests/needs.py: models, and programs with the command that installs each. What is already there
is left alone. Rule: with CI=true, anything that can't be had is a failure; otherwise it is a warning, and the tests
that need it are skipped with a reason.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.needs import COMPILED, MODELS, PROGRAMS  # noqa: E402 - the line above makes it importable


def main() -> int:
    pull = [sys.executable, "-m", "duologue", "models", "pull"]
    commands = {"models": [*pull, *(name for name in MODELS if name not in COMPILED)]}
    commands |= {name: [*pull, name] for name in COMPILED}
    commands |= {name: shlex.split(command) for name, command in PROGRAMS.items()}
    failed = [name for name, command in commands.items() if subprocess.run(command, cwd=ROOT, check=False).returncode]
    for name in failed:
        sys.stderr.write(f"get_needs: {name} could not be installed; run: {shlex.join(commands[name])}\n")
    return 1 if failed and os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
