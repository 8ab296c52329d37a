"""What fails in real time is looked at twice, and is forgiven once at the most."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parent.parent.parent / "tools" / "run_real_time_tests.py"

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
    """Two halves with a test each; returns the exit code."""
    spec = importlib.util.spec_from_file_location("real_time_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, tool)
    spec.loader.exec_module(tool)
    monkeypatch.chdir(tmp_path)
    return lambda first, second: run(tool, tmp_path, first, second)


def run(tool: ModuleType, folder: Path, first: str, second: str) -> int:
    marked = "import pytest\npytestmark = pytest.mark.alone\n"
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = alone\n", encoding="utf-8")
    halves = []
    for name, code in (("tests/shown", first), ("tests/torture", second)):
        (folder / name).mkdir(parents=True)
        (folder / name / f"test_{Path(name).name}.py").write_text(marked + code, encoding="utf-8")
        halves.append(tool.Half((name,), folder / "memory" / name))
    return int(tool.run(tuple(halves)))


def test_what_passes_passes(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs(FINE, FINE) == 0
    assert "once more" not in capfd.readouterr().out


def test_what_fails_once_is_told_and_forgiven(runs: Runs, capfd: pytest.CaptureFixture[str]) -> None:
    assert runs(ONCE, FINE) == 0
    said = capfd.readouterr().out
    assert "asked once more alone:\n  tests/shown/test_shown.py::test_once" in said


def test_what_fails_twice_fails(runs: Runs) -> None:
    assert runs(FAILS, FINE) == 1


def test_what_the_torture_loses_is_lost(runs: Runs) -> None:
    assert runs(FINE, ONCE) == 1


def test_a_file_that_cant_be_read_fails(runs: Runs) -> None:
    assert runs("this is no code\n", FINE) > 1
