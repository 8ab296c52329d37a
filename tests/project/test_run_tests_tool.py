"""What fails where the machine may disturb it is looked at twice, and is forgiven once at the most."""

from __future__ import annotations

import importlib.util
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

Runs = Callable[[str, str], int]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Two parts with a test each; returns the exit code."""
    spec = importlib.util.spec_from_file_location("run_tests_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, tool)
    spec.loader.exec_module(tool)
    monkeypatch.chdir(tmp_path)
    return lambda first, second: run(tool, tmp_path, first, second)


def run(tool: ModuleType, folder: Path, first: str, second: str) -> int:
    parts = []
    for name, code in (("tests/web", first), ("tests/torture", second)):
        (folder / name).mkdir(parents=True)
        (folder / name / f"test_{Path(name).name}.py").write_text(code, encoding="utf-8")
        parts.append(tool.Part((name,), folder / "memory" / name))
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return int(tool.run_both(*parts))


def test_what_passes_passes(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs(FINE, FINE) == 0
    assert "once more" not in capfd.readouterr().out


def test_what_fails_once_is_told_and_forgiven(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs(ONCE, FINE) == 0
    said = capfd.readouterr().out
    assert "asked once more alone:\n  tests/web/test_web.py::test_once" in said


def test_what_fails_twice_fails(runs: Runs) -> None:
    assert runs(FAILS, FINE) == 1


def test_what_the_torture_loses_is_lost(runs: Runs) -> None:
    assert runs(FINE, ONCE) == 1


def test_a_file_that_cant_be_read_fails(runs: Runs) -> None:
    assert runs("this is no code\n", FINE) > 1
