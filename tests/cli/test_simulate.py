"""`duologue simulate`: scenario files in one table, with exit codes for failed and invalid ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError

SCENARIOS = Path(__file__).parents[2] / "examples" / "scenarios"


def test_the_scenarios_of_a_folder_are_played_once_each() -> None:
    file = SCENARIOS / "slow_lookup.yaml"
    done = CliRunner().invoke(app, ["simulate", str(SCENARIOS), str(file), "--json"])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["passed"] == len(data["scenarios"]) == len(list(SCENARIOS.glob("*.yaml")))


def test_an_invalid_file_is_exit_code_2_and_names_the_problem(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("nonsense: 1\n")
    done = CliRunner().invoke(app, ["simulate", str(file)])
    assert done.exit_code == 2
    assert "invalid" in done.stdout
    assert "bad.yaml" in done.stdout


def test_a_folder_without_scenarios_is_invalid(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["simulate", str(tmp_path)])
    assert done.exit_code == 2
    assert "no scenario (*.yaml) in this folder" in done.stdout.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "problem"),
    [((), "nothing to play"), ((str(SCENARIOS), "--calls", "2"), "use either scenario files or --calls, not both")],
)
def test_options_that_make_no_sense_are_refused(options: tuple[str, ...], problem: str) -> None:
    done = CliRunner().invoke(app, ["simulate", *options])
    assert isinstance(done.exception, DuologueError)
    assert problem in str(done.exception)
