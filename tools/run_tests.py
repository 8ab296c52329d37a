"""Runs all tests: `python tools/run_tests.py`, or with another command beside them: `--beside "make types check"`.

First those on the simulated clock, in one process more than there are processors, because some wait. Beside them,
in a process of their own, those of the panel against a fake server, which wait for the browser. Then the others that
are marked `alone`: they run in real time, in two processes that mostly wait. The other command has the lowest
priority: it computes while all of these wait. Rule: only a test marked `alone` that fails is run a second time, by
itself, and the summary names it; a torture run never gets a second chance, because what it loses is lost.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

PANEL = "tests/browser"
# Tests of the panel against a real server run one at a time. Those against the fake server run with the simulated ones.
SPOKEN = (
    "tests/browser/test_accessible_conversation.py",
    "tests/browser/test_debug_view.py",
    "tests/browser/test_embed.py",
    "tests/browser/test_failures_and_jobs.py",
    "tests/browser/test_labels.py",
    "tests/browser/test_mobile.py",
    "tests/browser/test_panel_bench.py",
    "tests/browser/test_reconnecting.py",
    "tests/browser/test_talking.py",
    "tests/browser/test_watching_calls.py",
    "tests/browser/test_writing.py",
)
TORTURE = "tests/lab/torture"  # after the spoken ones, so that both processes take about as long
# No part has these: they need more packages or programs. See make oracles, make providers, make interop.
SEPARATE = ("--ignore=tests/oracles", "--ignore=tests/providers", "--ignore=tests/browser/turn")
NO_SECOND_CHANCE = (f"{TORTURE}/",)
# Test modules are compiled once, even where the environment turns that off for other programs.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# Each process begins with its own share of the tests, so that what a module prepares is prepared once; a process that
# has no more tests takes some of another's.
SHARED = ("-n", str(1 + (os.cpu_count() or 1)), "--dist", "worksteal")
TESTS_FAILED = 1  # pytest's exit code; any other code but 0 means that pytest itself failed


@dataclass(frozen=True)
class Part:
    """Some of the tests, and the cache folder in which pytest records which of them failed."""

    chosen: tuple[str, ...]
    cache: Path
    second_chance: bool = False
    rerun: list[str] = field(default_factory=list, compare=False)

    def command(self, *more: str) -> list[str]:
        return [sys.executable, "-m", "pytest", "-rs", "-o", f"cache_dir={self.cache}", *SEPARATE, *self.chosen, *more]

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


class Background:
    """A command that runs beside others. What it prints is shown when it has ended."""

    def __init__(self, name: str, command: list[str]) -> None:
        self._name = name
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed on leaving
        self._process = subprocess.Popen(
            command, stdout=self._log, stderr=subprocess.STDOUT, env=ENVIRONMENT, process_group=0
        )

    def __enter__(self) -> Background:
        return self

    def __exit__(self, *_: object) -> None:
        """End it, and what it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait()
        self._log.close()

    def has_failed(self) -> bool:
        """Has it already ended, and badly?"""
        return bool(self._process.poll())

    def finish(self) -> int:
        """Wait for its end and print its output. Returns its exit code."""
        code = self._process.wait()
        self._log.seek(0)
        _print(f"\n-- {self._name}\n{self._log.read()}")
        if code:
            _print(f"failed with exit code {code}: {self._name}")
        return code


def run_together(shown: Part, *others: Part) -> int:
    """Run parts at the same time, then whatever gets a second chance. Returns the worst exit code."""
    with ExitStack() as running:
        beside = [running.enter_context(Background(" ".join(part.chosen), part.command())) for part in others]
        codes = [_run(shown.command()), *(one.finish() for one in beside)]
    return max(part.finish(code) for part, code in zip((shown, *others), codes, strict=True))


def print_second_chances(*parts: Part) -> None:
    """Say which tests passed or failed only at the second attempt: each is a fault of the test or of the product."""
    names = [name for part in parts for name in part.rerun]
    if names:
        _print("\n  ".join([f"\n{len(names)} of the tests marked `alone` needed a second chance:", *names]))
    else:
        _print("\nNo test needed a second chance.")


def run_simulated(folder: Path, panel: Part) -> int:
    """Run the tests on the simulated clock, with those of the panel beside them. Returns an exit code."""
    return run_together(Part(("-m", "not alone", *SHARED), folder / "simulated"), panel)


def run_alone(folder: Path, panel: Part) -> int:
    """Run the other tests marked `alone`. Returns an exit code."""
    _print("tests marked `alone`, in two processes; the output of the second one follows at the end")
    spoken = Part(("-m", "alone", *SPOKEN, TORTURE), folder / "spoken", second_chance=True)
    elsewhere = (f"--ignore={PANEL}", f"--ignore={TORTURE}")
    shown = Part(("-m", "alone", *elsewhere), folder / "shown", second_chance=True)
    code = run_together(shown, spoken)
    print_second_chances(panel, shown, spoken)
    return code


def run_all(folder: Path, commands: list[str]) -> int:
    """Run all tests, with these commands beside them. Returns an exit code."""
    ignored = (f"--ignore={path}" for path in SPOKEN)
    panel = Part(("-m", "alone", PANEL, *ignored), folder / "panel", second_chance=True)
    with ExitStack() as running:
        beside = [running.enter_context(Background(command, _lowest(command))) for command in commands]
        code = run_simulated(folder, panel)
        if not code and not any(command.has_failed() for command in beside):
            code = run_alone(folder, panel)
        return code or max([command.finish() for command in beside], default=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--beside", action="append", default=[], metavar="COMMAND", help="also run this; may be repeated"
    )
    with tempfile.TemporaryDirectory() as folder:
        return run_all(Path(folder), parser.parse_args().beside)


def _lowest(command: str) -> list[str]:
    return ["nice", "-n", "19", *shlex.split(command)]


def _run(command: list[str]) -> int:
    return subprocess.run(command, check=False, env=ENVIRONMENT).returncode


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
