"""`duologue replay`: a good journal is confirmed, a bad one is one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from duologue.lab.sim.stage import Stage
from tests.cli.command_line import run


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


def test_a_good_journal_is_confirmed_and_shown(journal: Path) -> None:
    done = run("replay", str(journal))
    assert done.returncode == 0
    assert "every digest agrees" in done.stdout


def test_a_good_journal_is_confirmed_as_json(journal: Path) -> None:
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
