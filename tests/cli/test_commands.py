"""The commands: results on standard output, a problem in one line with exit code 1, no traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from duologue.lab.sim.stage import Stage

DUOLOGUE = Path(sys.executable).parent / "duologue"


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(DUOLOGUE), *args], capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    stage = Stage()
    stage.start()
    stage.say()
    stage.answer()
    path = tmp_path / "call.journal"
    with path.open("w", encoding="utf-8") as out:
        stage.write_journal(out)
    return path


def test_a_good_journal_is_confirmed_and_told(journal: Path) -> None:
    done = run("replay", str(journal))
    assert done.returncode == 0
    assert "every digest agrees" in done.stdout


def test_a_good_journal_is_told_to_machines(journal: Path) -> None:
    data = json.loads(run("replay", str(journal), "--json").stdout)
    assert data["agrees"] is True
    assert data["events"] > 10


def _truncated(lines: list[str]) -> list[str]:
    return lines[:3]


def _edited(lines: list[str]) -> list[str]:
    return [line.replace('"words":3', '"words":0').replace('"substantial":3', '"substantial":0') for line in lines]


def _other_version(lines: list[str]) -> list[str]:
    return [lines[0].replace('"schema":1', '"schema":99'), *lines[1:]]


def _garbage(_: list[str]) -> list[str]:
    return ["\x00nonsense"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_truncated, "truncated: no end after event 2 (line 3)"),
        (_edited, "leads to"),
        (_other_version, "line 1: journal has schema 99, this version reads 1"),
        (_garbage, "line 1: not JSON"),
    ],
)
def test_a_bad_journal_is_one_line_that_names_the_place(journal: Path, spoil: object, says: str) -> None:
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(spoil(lines)), encoding="utf-8")  # type: ignore[operator]
    done = run("replay", str(journal))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith(f"error: {journal}: ")
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_a_missing_journal_is_one_line() -> None:
    done = run("replay", "/nowhere/at.all")
    assert (done.returncode, done.stderr.strip()) == (1, "error: /nowhere/at.all: No such file or directory")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("check", "--profile", "loud"), "unknown profile 'loud': use one of immediate, confirm, words"),
        (("diagram", "--view", "nothing"), "nothing"),
        (("diagram", "--format", "png"), "png"),
    ],
)
def test_an_unknown_name_says_what_there_is(args: tuple[str, ...], says: str) -> None:
    done = run(*args)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_diagram_is_written_to_standard_output() -> None:
    assert "\nstateDiagram-v2\n" in run("diagram", "--view", "lifecycle").stdout
    assert run("diagram", "--view", "lifecycle", "--format", "svg").stdout.startswith("<svg")


def test_the_row_that_explains_a_behaviour_is_found_by_a_word() -> None:
    found = json.loads(run("rows", "onset_holds", "--json").stdout)["rows"]
    assert [entry["row"] for entry in found] == ["voice: playing + SpeechStarted [onset_holds] -> held"]


def test_rows_are_shown_to_people_with_their_guards() -> None:
    assert "[onset_holds]" in run("rows", "onset_holds").stdout


def test_a_word_that_no_row_contains_is_an_error() -> None:
    done = run("rows", "[nonsense]")
    assert done.returncode == 1
    assert done.stderr.startswith("error: no row or rule contains '[nonsense]'")


def test_the_version_is_shown() -> None:
    assert run("--version").stdout.startswith("duologue 0.")


def test_without_its_parts_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['typer'] = None\nfrom duologue.cli.entry import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == "error: the command line needs typer: pip install 'duologue[cli]'"
