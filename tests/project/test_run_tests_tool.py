"""A test marked `alone` that fails is run once more by itself and named; any other failure is final.

A command that runs beside the tests fails the run if it fails.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent
TOOL = ROOT / "tools" / "run_tests.py"

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


def test_what_a_command_beside_the_tests_prints_follows_them(
    tool: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert tool.run_all([part_of(tool, tmp_path, "tests/server", FINE)], ["echo fine"]) == 0
    printed = capfd.readouterr().out
    assert printed.index("1 passed") < printed.index("-- echo fine\nfine\n")


def test_a_command_that_fails_beside_the_tests_fails_the_run_and_is_named(
    tool: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert tool.run_all([part_of(tool, tmp_path, "tests/server", FINE)], ["sh -c 'exit 3'", "true"]) == 3
    assert "failed with exit code 3: sh -c 'exit 3'" in capfd.readouterr().out


def test_after_a_test_has_failed_the_command_is_stopped(tool: ModuleType, tmp_path: Path) -> None:
    assert tool.run_all([part_of(tool, tmp_path, "tests/server", FAILS, second_chance=False)], ["sleep 3600"]) == 1


def test_a_failure_in_one_part_hides_none_in_another(
    tool: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    parts = [part_of(tool, tmp_path, name, FAILS, second_chance=False) for name in ("tests/server", "tests/browser")]
    assert tool.run_all(parts, []) == 1
    assert capfd.readouterr().out.count("1 failed") == 2


# -- Which tests run where


def test_simulated_tests_compute_with_the_lowest_priority_and_those_in_real_time_do_not(
    tool: ModuleType, tmp_path: Path
) -> None:
    simulated, *real_time = tool.parts_of(ROOT / "tests", tmp_path)
    assert simulated.command()[:3] == ["nice", "-n", "19"]
    assert all(part.command()[0] == sys.executable for part in real_time)


def test_every_module_with_a_test_in_real_time_is_in_one_part(tool: ModuleType, tmp_path: Path) -> None:
    """Those of the panel and of the torture are in by their folder; the spoken ones of the panel in the other part."""
    _, panel, others = tool.parts_of(ROOT / "tests", tmp_path)
    assert all((ROOT / path).is_file() and path.startswith(f"{tool.PANEL}/") for path in tool.SPOKEN)
    assert {tool.PANEL, *(f"--ignore={path}" for path in tool.SPOKEN)} <= set(panel.chosen)
    assert {*tool.SPOKEN, tool.TORTURE} <= set(others.chosen)
    assert {"tests/cli/test_dev.py", "tests/project/test_wheel.py"} <= set(others.chosen)
    assert not [name for name in others.chosen if name.startswith("tests/providers")]


def test_no_part_has_tests_that_need_what_make_test_does_not_install(tool: ModuleType, tmp_path: Path) -> None:
    """The tests of the panel with a TURN server lie in the panel's folder, but `make interop` installs the server."""
    assert "--ignore=tests/browser/turn" in tool.SEPARATE
    assert set(tool.SEPARATE) <= set(tool.Part((tool.PANEL,), tmp_path).command())
