"""The commands `duologue flows check` and `duologue flows schema`."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from duologue.cli.app import app
from tests.flows.flow_problems import HEAD, SAY


def test_check_shows_the_contents_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(HEAD + "      - collect: day\n      - action: search", encoding="utf-8")
    done = CliRunner().invoke(app, ["flows", "check", str(file)])
    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    assert "1 flow, 4 slots flows book" in shown
    assert "day (date)" in shown
    assert "actions search" in shown


def test_check_reports_every_problem_of_every_file(tmp_path: Path) -> None:
    good, bad, worse = tmp_path / "good.yaml", tmp_path / "bad.yaml", tmp_path / "worse.yaml"
    good.write_text(f"version: 1\n{SAY}", encoding="utf-8")
    bad.write_text(HEAD + "      - collect: orgin", encoding="utf-8")
    worse.write_text("", encoding="utf-8")
    done = CliRunner().invoke(app, ["flows", "check", str(good), str(bad), str(worse)])
    assert done.exit_code == 1
    assert f"{bad}:10: flows.book.steps[0]: unknown slot 'orgin'; did you mean 'origin'?" in done.stdout
    assert f"{worse}:1: the file is empty" in done.stdout
    done = CliRunner().invoke(app, ["flows", "check", "--json", str(good), str(bad)])
    assert done.exit_code == 1
    first, second = json.loads(done.stdout)["files"]
    assert (first["valid"], first["flows"][0]["steps"], first["problems"]) == (True, ["say_1", "end"], [])
    assert (second["valid"], second["problems"][0]["line"], second["problems"][0]["level"]) == (False, 10, "error")


def test_the_schema_is_json() -> None:
    done = CliRunner().invoke(app, ["flows", "schema"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["properties"]["version"]["const"] == 1
