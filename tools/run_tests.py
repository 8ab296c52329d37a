"""Runs all tests: `python tools/run_tests.py`.

First those on the simulated clock, in two processes that compute. Then those marked `alone`, which run in real time, in
two processes that mostly wait. Rule: only a test marked `alone` that fails is run a second time, by itself, and the
summary names it; a torture run never gets a second chance, because what it loses is lost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

# Tests of the panel against a real server run one at a time; those against the fake server are in the other process.
SPOKEN = (
    "tests/browser/test_accessible_conversation.py",
    "tests/browser/test_debug_view.py",
    "tests/browser/test_failures_and_jobs.py",
    "tests/browser/test_labels.py",
    "tests/browser/test_panel_bench.py",
    "tests/browser/test_reconnecting.py",
    "tests/browser/test_talking.py",
    "tests/browser/test_watching_calls.py",
    "tests/browser/test_writing.py",
    "tests/lab/torture",
)
SEPARATE = "--ignore=tests/oracles"  # needs other frameworks: make oracles
NO_SECOND_CHANCE = ("tests/lab/torture/",)
# Test modules are compiled once, even where the environment turns that off for other programs.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
TESTS_FAILED = 1  # pytest's exit code; any other code but 0 means that pytest itself failed


@dataclass(frozen=True)
class Part:
    """Some of the tests, and the cache folder in which pytest records which of them failed."""

    chosen: tuple[str, ...]
    cache: Path
    second_chance: bool = False
    rerun: list[str] = field(default_factory=list, compare=False)

    def command(self, *more: str) -> list[str]:
        return [sys.executable, "-m", "pytest", "-rs", "-o", f"cache_dir={self.cache}", *self.chosen, *more]

    def failed(self) -> list[str]:
        """The tests that failed in the last run."""
        written = self.cache / "v" / "cache" / "lastfailed"
        return sorted(json.loads(written.read_text(encoding="utf-8"))) if written.exists() else []

    def finish(self, code: int) -> int:
        """The exit code after a second chance, if this part and its failed tests may have one."""
        failed = self.failed()
        if code != TESTS_FAILED or not self.second_chance or not failed:
            return code
        if any(name.startswith(NO_SECOND_CHANCE) for name in failed):
            return code
        self.rerun.extend(failed)
        _print("\n  ".join(["\nfailed next to other tests; run once more alone:", *failed]))
        return _run(self.command("--last-failed", "-n", "0"))


def run_one(part: Part) -> int:
    """Run one part. Returns an exit code."""
    return part.finish(_run(part.command()))


def run_both(spoken: Part, shown: Part) -> int:
    """Run two parts at the same time, then whatever gets a second chance. Returns the worse exit code."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        background = subprocess.Popen(spoken.command(), stdout=log, stderr=subprocess.STDOUT, env=ENVIRONMENT)
        codes = {shown: _run(shown.command())}
        codes[spoken] = background.wait()
        log.seek(0)
        _print(log.read())
    return max([part.finish(code) for part, code in codes.items()])


def print_second_chances(*parts: Part) -> None:
    """Say which tests passed or failed only at the second attempt: each is a fault of the test or of the product."""
    names = [name for part in parts for name in part.rerun]
    if names:
        _print("\n  ".join([f"\n{len(names)} of the tests marked `alone` needed a second chance:", *names]))
    else:
        _print("\nNo test needed a second chance.")


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        simulated = Part(("-m", "not alone", "-n", "2", SEPARATE), Path(folder, "simulated"))
        if code := run_one(simulated):
            return code
        _print("tests marked `alone`, in two processes; the output of the second one follows at the end")
        spoken = Part(("-m", "alone", *SPOKEN), Path(folder, "spoken"), second_chance=True)
        others = (f"--ignore={path}" for path in SPOKEN)
        shown = Part(("-m", "alone", SEPARATE, *others), Path(folder, "shown"), second_chance=True)
        code = run_both(spoken, shown)
        print_second_chances(spoken, shown)
        return code


def _run(command: list[str]) -> int:
    return subprocess.run(command, check=False, env=ENVIRONMENT).returncode


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
