"""`duologue init` writes a project or an example, and prints what to install and what to run next."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli import requirements
from duologue.cli.app import app
from tests.limits import WAIT_S


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["init", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_project_names_the_next_commands(tmp_path: Path) -> None:
    printed = run(str(tmp_path / "mine"))
    assert "duologue serve agent:agent" in printed
    assert "test_agent:agent" not in printed, "a fixture of a test is no agent"
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


def test_a_function_that_makes_agents_can_be_served_and_an_llm_needs_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = run("--example", "reminder")
    assert "duologue serve reminder:agent" in printed
    assert "OPENAI_API_KEY" not in printed
    assert "export OPENAI_API_KEY" in run("--example", "receptionist")


def test_the_examples_can_be_listed() -> None:
    assert {"flights", "table", "echo"} <= set(run("--example", "list").split())


def test_without_a_folder_it_says_what_to_type() -> None:
    done = CliRunner().invoke(app, ["init"])
    assert "duologue init my-agent" in str(done.exception)


# -- A project of one's own


def test_a_project_that_was_just_written_passes_its_own_tests(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    run = [sys.executable, "-c", "from duologue.cli.entry import main; main()", "init", str(folder)]
    made = subprocess.run(run, capture_output=True, text=True, timeout=WAIT_S)
    assert made.returncode == 0, made.stderr
    again = subprocess.run(run, capture_output=True, text=True, timeout=WAIT_S)
    assert again.returncode == 1
    assert "already" in again.stderr + again.stdout
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder, capture_output=True, text=True, timeout=WAIT_S,
    )  # fmt: skip
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert re.search(r"\d+ passed", tests.stdout)


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = [sys.executable, "-c", "from duologue.cli.entry import main; main()", "init", str(tmp_path / "file" / "x")]
    made = subprocess.run(run, capture_output=True, text=True, timeout=WAIT_S)
    assert made.returncode == 1
    assert "can't be written" in made.stderr + made.stdout
    assert "Traceback" not in made.stderr
