"""Runs the installed `duologue` command as a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

DUOLOGUE = Path(sys.executable).parent / "duologue"


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(DUOLOGUE), *args], capture_output=True, text=True, check=False, timeout=120)
