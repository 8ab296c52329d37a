"""The tests that run in real time, in two processes: `python tools/run_real_time_tests.py`.

They mostly wait, so two of them share the machine well; the second process speaks when the first has ended. A test
with a browser or a spoken call that fails beside the others is asked once more, alone, and that is told. Rule: a
second failure is a failure, and the torture has no second chance: what it loses is lost.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FINAL = "tests/torture"
FAILURES = 1  # how pytest says that tests have failed; anything else but 0 is worse


@dataclass(frozen=True)
class Half:
    """Some of the tests, and where pytest writes down which of them have failed."""

    chosen: tuple[str, ...]
    memory: Path

    def command(self, *more: str) -> list[str]:
        remember = ["-o", f"cache_dir={self.memory}"]
        return [sys.executable, "-m", "pytest", "-m", "alone", *self.chosen, *remember, *more]

    def failed(self) -> list[str]:
        """The tests that failed in the last run."""
        written = self.memory / "v" / "cache" / "lastfailed"
        return sorted(json.loads(written.read_text(encoding="utf-8"))) if written.exists() else []

    def ask_again(self) -> int:
        """Run what failed once more, with the machine for itself."""
        failed = self.failed()
        if not failed or any(name.startswith(FINAL) for name in failed):
            return FAILURES
        _say("\n  ".join(["\nfailed beside other tests, asked once more alone:", *failed]))
        return subprocess.run(self.command("--last-failed"), check=False).returncode


def run(halves: tuple[Half, Half]) -> int:
    """Both halves at once, and then whatever deserves a second look. Returns an exit code."""
    spoken, shown = halves
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        beside = subprocess.Popen(spoken.command(), stdout=log, stderr=subprocess.STDOUT)
        ends = {shown: subprocess.run(shown.command(), check=False).returncode}
        ends[spoken] = beside.wait()
        log.seek(0)
        _say(log.read())
    return max(half.ask_again() if end == FAILURES else end for half, end in ends.items())


def main() -> int:
    _say("tests in real time, in two processes; what the second one says follows at the end")
    with tempfile.TemporaryDirectory() as folder:
        with_voice = ("tests/browser", FINAL)
        the_rest = tuple(f"--ignore={path}" for path in with_voice)
        return run((Half(with_voice, Path(folder, "voice")), Half(the_rest, Path(folder, "rest"))))


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
