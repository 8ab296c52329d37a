"""The pytest plugin: its fixtures and story files, in a project of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.limits import WAIT_S

TEST = """
import pytest
from duologue import Agent


@pytest.fixture
def agent():
    return Agent(lambda request: f"You said {request.text}.")


def test_it_answers(call):
    call.user("hello").expect_heard("You said hello.")
"""


def run_pytest(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=WAIT_S)


def test_the_fixture_calls_the_agent_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text(TEST)
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_without_an_agent_the_fixture_says_what_to_define(tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text("def test_it_answers(call):\n    pass\n")
    done = run_pytest(tmp_path)
    assert done.returncode != 0
    assert "define a fixture `agent`" in done.stdout
