"""All tests: first those on the simulated clock, in two processes that compute; then those in real time, in two that
mostly wait: `python tools/run_tests.py`.

A test that talks over sockets, starts processes or drives a browser, and fails beside the others, is asked once more,
alone, and that is told. Rule: a second failure is a failure; a test that the machine can't disturb has no second
chance, and neither has the torture: what it loses is lost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# Where tests meet the machine: its sockets, processes, threads and browsers.
DISTURBED = tuple(
    f"tests/{name}/" for name in "browser brains cli ears keeping lines observe server store voice web workers".split()
)
# Tests are compiled once and not by every process, whatever the machine thinks of that.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
FAILURES = 1  # how pytest says that tests have failed; anything else but 0 is worse


@dataclass(frozen=True)
class Part:
    """Some of the tests, and where pytest writes down which of them have failed."""

    chosen: tuple[str, ...]
    memory: Path

    def command(self, *more: str) -> list[str]:
        return [sys.executable, "-m", "pytest", "-o", f"cache_dir={self.memory}", *self.chosen, *more]

    def failed(self) -> list[str]:
        """The tests that failed in the last run."""
        written = self.memory / "v" / "cache" / "lastfailed"
        return sorted(json.loads(written.read_text(encoding="utf-8"))) if written.exists() else []

    def ask_again(self) -> int:
        """Run what failed once more, with the machine for itself."""
        failed = self.failed()
        if not failed or not all(name.startswith(DISTURBED) for name in failed):
            return FAILURES
        _say("\n  ".join(["\nfailed beside other tests, asked once more alone:", *failed]))
        return _run(self.command("--last-failed", "-n", "0"))


def run_one(part: Part) -> int:
    """A part that has the machine for itself already. Returns an exit code."""
    end = _run(part.command())
    return part.ask_again() if end == FAILURES else end


def run_both(spoken: Part, shown: Part) -> int:
    """Two parts at once, and then whatever deserves a second look."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        beside = subprocess.Popen(spoken.command(), stdout=log, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        ends = {shown: _run(shown.command())}
        ends[spoken] = beside.wait()
        log.seek(0)
        _say(log.read())
    return max(part.ask_again() if end == FAILURES else end for part, end in ends.items())


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        if end := run_one(Part(("-m", "not alone", "-n", "2"), Path(folder, "simulated"))):
            return end
        _say("tests in real time, in two processes; what the second one says follows at the end")
        voices = ("tests/browser", "tests/lab/torture")
        spoken = Part(("-m", "alone", *voices), Path(folder, "spoken"))
        shown = Part(("-m", "alone", *(f"--ignore={path}" for path in voices)), Path(folder, "shown"))
        return run_both(spoken, shown)


def _run(command: list[str]) -> int:
    return subprocess.run(command, check=False, env=ENVIRONMENT).returncode


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
