"""`duologue init` writes a project or an example, and prints what to install and what to run next."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli import requirements
from duologue.cli.app import app


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["init", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_project_names_the_next_commands(tmp_path: Path) -> None:
    printed = run(str(tmp_path / "mine"))
    assert "duologue serve agent:agent" in printed
    assert "duologue chat flights.yaml" in printed
    assert "pytest" in printed


def test_what_is_not_installed_is_named_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "is_installed", lambda extra: False)
    printed = run(str(tmp_path / "mine"))
    assert "pip install 'duologue[server,flows,testing,speech,nlu]'" in printed, printed
    assert printed.index("pip install") < printed.index("cd ")


def test_an_example_is_written_into_a_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run("--example", "table")
    assert (tmp_path / "table" / "table.yaml").is_file()
    assert "duologue chat table.yaml" in printed
    assert "pytest" not in printed


def test_the_examples_can_be_listed() -> None:
    assert {"flights", "table", "echo"} <= set(run("--example", "list").split())


def test_without_a_folder_it_says_what_to_type() -> None:
    done = CliRunner().invoke(app, ["init"])
    assert "duologue init my-agent" in str(done.exception)
