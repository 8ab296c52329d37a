"""A test marked `alone` that fails is run once more by itself and named; any other failure is final.

A command that runs beside the tests fails the run if it fails.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parent.parent.parent / "tools" / "run_tests.py"

FINE = "def test_fine():\n    pass\n"
FAILS = "def test_fails():\n    assert False\n"
ONCE = """
from pathlib import Path

def test_once():
    seen = Path(__file__).with_suffix(".seen")
    was_there, _ = seen.exists(), seen.touch()
    assert was_there
"""
SKIPPED = """
import pytest

def test_skipped():
    pytest.skip("model minilm is missing: duologue models pull minilm")
"""

Runs = Callable[[str, str], int]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_tests_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, found)
    spec.loader.exec_module(found)
    monkeypatch.setitem(found.ENVIRONMENT, "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they start pytest many times
    monkeypatch.setitem(found.ENVIRONMENT, "PYTEST_PLUGINS", "xdist.plugin")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return found


@pytest.fixture
def runs(tool: ModuleType, tmp_path: Path) -> Runs:
    """Two parts in real time with a test each; returns the exit code."""

    def run(first: str, second: str) -> int:
        parts = [part_of(tool, tmp_path, "tests/browser", first), part_of(tool, tmp_path, "tests/lab/torture", second)]
        code = int(tool.run_together(*parts))
        tool.print_second_chances(*parts)
        return code

    return run


def part_of(tool: ModuleType, folder: Path, name: str, code: str, second_chance: bool = True) -> object:
    (folder / name).mkdir(parents=True)
    (folder / name / f"test_{Path(name).name}.py").write_text(code, encoding="utf-8")
    part: object = tool.Part((name,), folder / "cache" / name, second_chance=second_chance)
    return part


def test_what_passes_passes(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs(FINE, FINE) == 0
    assert "No test needed a second chance." in capfd.readouterr().out


def test_what_fails_once_is_run_again_and_named_in_the_summary(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs(ONCE, FINE) == 0
    printed = capfd.readouterr().out
    assert "run once more alone:\n  tests/browser/test_browser.py::test_once" in printed
    assert "needed a second chance:\n  tests/browser/test_browser.py::test_once" in printed


def test_what_fails_twice_fails(runs: Runs) -> None:
    assert runs(FAILS, FINE) == 1


def test_a_failed_torture_run_has_no_second_chance(runs: Runs) -> None:
    assert runs(FINE, ONCE) == 1


def test_a_test_on_the_simulated_clock_has_no_second_chance(
    tool: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert tool.run_together(part_of(tool, tmp_path, "tests/server", ONCE, second_chance=False)) == 1
    assert "once more" not in capfd.readouterr().out


def test_a_file_that_cant_be_read_fails(runs: Runs) -> None:
    assert runs("this is not code\n", FINE) > 1


def test_every_skip_is_listed_with_its_reason(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs(SKIPPED, FINE) == 0
    assert "duologue models pull minilm" in capfd.readouterr().out


# -- A command beside the tests


@pytest.fixture
def alone(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """No test is run, and all pass. The list has an entry if those marked `alone` had their turn."""
    ran: list[Path] = []
    monkeypatch.setattr(tool, "run_simulated", lambda folder, panel: 0)
    monkeypatch.setattr(tool, "run_alone", lambda folder, panel: ran.append(folder) or 0)
    return ran


def test_what_a_command_beside_the_tests_prints_follows_them(
    tool: ModuleType, alone: list[Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert tool.run_all(tmp_path, ["echo fine"]) == 0
    assert "-- echo fine\nfine\n" in capfd.readouterr().out
    assert alone


def test_a_command_that_fails_beside_the_tests_fails_the_run_and_is_named(
    tool: ModuleType, alone: list[Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert tool.run_all(tmp_path, ["sh -c 'exit 3'", "true"]) == 3
    assert "failed with exit code 3: sh -c 'exit 3'" in capfd.readouterr().out


def test_after_a_command_has_failed_no_more_tests_begin(
    tool: ModuleType, alone: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait_for_the_command(folder: Path, panel: object) -> int:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        return 0

    monkeypatch.setattr(tool, "run_simulated", wait_for_the_command)
    assert tool.run_all(tmp_path, ["false"]) == 1
    assert not alone


def test_after_a_test_has_failed_the_command_is_stopped(
    tool: ModuleType, alone: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "run_simulated", lambda folder, panel: 1)
    assert tool.run_all(tmp_path, ["sleep 3600"]) == 1
    assert not alone


def test_every_test_of_the_panel_runs_once_beside_the_simulated_ones_or_spoken(tool: ModuleType) -> None:
    """None is ignored in every part: the list of spoken ones names files that exist, all in the panel's folder."""
    root = TOOL.parent.parent
    assert all((root / path).is_file() and path.startswith(f"{tool.PANEL}/") for path in tool.SPOKEN)


def test_no_part_has_tests_that_need_what_make_test_does_not_install(tool: ModuleType, tmp_path: Path) -> None:
    """The tests of the panel with a TURN server lie in the panel's folder, but `make interop` installs the server."""
    assert "--ignore=tests/browser/turn" in tool.SEPARATE
    assert set(tool.SEPARATE) <= set(tool.Part((tool.PANEL,), tmp_path).command())
