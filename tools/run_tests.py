"""Runs all tests: `python tools/run_tests.py`, or with another command beside them: `--beside "make types check"`.

Tests in real time are marked `alone`. They mostly wait, so two processes run them one after the other. While they wait,
the tests on the simulated clock and the other command compute, with the lowest priority, so that they don't delay
those in real time. Rule: only a test marked `alone` that fails is run a second time, by itself after all others, and
the summary names it; a torture run never gets a second chance, because what it loses is lost.
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
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

PANEL = "tests/browser"
# Tests of the panel against a real server: in the second process, so that both take about as long.
SPOKEN = (
    "tests/browser/test_accessible_conversation.py",
    "tests/browser/test_debug_view.py",
    "tests/browser/test_embed.py",
    "tests/browser/test_failures_and_jobs.py",
    "tests/browser/test_labels.py",
    "tests/browser/test_loading_page.py",
    "tests/browser/test_mobile.py",
    "tests/browser/test_panel_bench.py",
    "tests/browser/test_reconnecting.py",
    "tests/browser/test_talking.py",
    "tests/browser/test_watching_calls.py",
    "tests/browser/test_writing.py",
)
TORTURE = "tests/lab/torture"
# No part has these: they need more packages or programs. See make oracles, make providers, make interop.
SEPARATE = ("--ignore=tests/oracles", "--ignore=tests/providers", "--ignore=tests/browser/turn")
NO_SECOND_CHANCE = (f"{TORTURE}/",)
# Test modules are compiled once, even where the environment turns that off for other programs.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# Each process begins with its own share of the tests, so that what a module prepares is prepared once; a process that
# has no more tests takes some of another's.
SHARED = ("-n", str(os.cpu_count() or 1), "--dist", "worksteal")
MARK = "pytest." + "mark.alone"
LOWEST = ("nice", "-n", "19")
TESTS_FAILED = 1  # pytest's exit code; any other code but 0 means that pytest itself failed


@dataclass(frozen=True)
class Part:
    """Some of the tests, and the cache folder in which pytest records which of them failed."""

    chosen: tuple[str, ...]
    cache: Path
    second_chance: bool = False
    is_behind: bool = False  # computes while other parts wait
    rerun: list[str] = field(default_factory=list, compare=False)

    def command(self, *more: str) -> list[str]:
        priority = LOWEST if self.is_behind else ()
        return [
            *priority,
            sys.executable,
            "-m",
            "pytest",
            "-rs",
            "-o",
            f"cache_dir={self.cache}",
            *SEPARATE,
            *self.chosen,
            *more,
        ]

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


def parts_of(tests: Path, folder: Path) -> tuple[Part, Part, Part]:
    """Those on the simulated clock, and two parts in real time that take about as long as each other."""
    simulated = Part(("-m", "not alone and not sweep", *SHARED), folder / "simulated", is_behind=True)
    ignored = (f"--ignore={path}" for path in SPOKEN)
    panel = Part(("-m", "alone", PANEL, *ignored), folder / "panel", second_chance=True)
    others = ("-m", "alone", *SPOKEN, *real_time_modules(tests), TORTURE)
    return simulated, panel, Part(others, folder / "others", second_chance=True)


def real_time_modules(tests: Path) -> list[str]:
    """The modules outside the folders of the panel and of the torture that mark a test as `alone`."""
    found = (path for path in tests.rglob("test_*.py") if MARK in path.read_text(encoding="utf-8"))
    names = sorted(path.relative_to(tests.parent).as_posix() for path in found)
    elsewhere = (PANEL, TORTURE, *(path.removeprefix("--ignore=") for path in SEPARATE))
    return [name for name in names if not name.startswith(elsewhere)]


def run_all(parts: Sequence[Part], commands: list[str]) -> int:
    """Run all tests, with these commands beside them. Returns an exit code."""
    with ExitStack() as running:
        beside = [running.enter_context(Background(one, [*LOWEST, *shlex.split(one)])) for one in commands]
        code = run_together(*parts)
        print_second_chances(*parts)
        return code or max([command.finish() for command in beside], default=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--beside", action="append", default=[], metavar="COMMAND", help="also run this; may be repeated"
    )
    with tempfile.TemporaryDirectory() as folder:
        return run_all(parts_of(Path("tests"), Path(folder)), parser.parse_args().beside)


def _run(command: list[str]) -> int:
    return subprocess.run(command, check=False, env=ENVIRONMENT).returncode


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
