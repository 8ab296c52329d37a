"""`duologue phone --simulate` with a story: its timeline, its JSON, and one line for a problem."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from duologue.cli.phone_story import is_story
from tests.cli.command_line import Done
from tests.cli.command_line import run as run_command

STORIES = Path(__file__).parents[2] / "examples" / "phone"


def run(*args: str | Path) -> Done:
    return run_command("phone", "--simulate", *args)


def test_a_story_prints_its_timeline() -> None:
    done = run(STORIES / "outbound_busy.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The line is busy." in done.stdout
    assert "call ann  ringing" in done.stdout
    assert "as expected" in done.stdout


def test_a_function_of_the_context_makes_the_agent(tmp_path: Path) -> None:
    (tmp_path / "made_for_story.py").write_text(
        "from duologue import Agent, Context\n"
        "def make(context: Context) -> Agent:\n"
        "    return Agent(lambda request: 'Good.')\n"
    )
    file = tmp_path / "story.yaml"
    file.write_text((STORIES / "outbound_busy.yaml").read_text())
    done = run(file, "--agent", "made_for_story:make")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_story_as_json_on_the_other_carrier() -> None:
    done = run(STORIES / "outbound_no_answer.yaml", "--carrier", "telnyx", "--json")
    found = json.loads(done.stdout)
    assert (found["result"], found["carrier"], found["outcome"]) == ("passed", "telnyx", "no answer")
    assert found["timeline"][0] == {"at_ms": 0, "who": "call ann", "what": "dialling"}


@pytest.mark.parametrize(
    ("text", "args", "why"),
    [
        ("story: x\ntelephones: {ann: {}}\ncall: bob\nagent: desk:agent", (), "there is no telephone 'bob'"),
        ("story: x\ntelephones: {ann: {}}\ncall: ann", (), "the story needs an agent"),
        ("story: x\ntelephones: {ann: {}}\ncall: ann\nagent: desk:clerk", (), "desk:clerk does not exist"),
        ("story: x\ntelephones: {ann: {}}\ncall: ann", ("--to", "http://127.0.0.1:1"), "omit --to and --timeline"),
        ("story: x\ntelephones: {ann: {}}\ncall: ann", ("--carrier", "pigeon"), "carrier must be one of"),
    ],
)
def test_a_problem_is_one_line(tmp_path: Path, text: str, args: tuple[str, ...], why: str) -> None:
    shutil.copy(STORIES / "desk.py", tmp_path)
    file = tmp_path / "story.yaml"
    file.write_text(text)
    done = run(file, *args)
    assert done.returncode == 1
    assert why in done.stderr


def test_a_story_that_goes_otherwise_fails(tmp_path: Path) -> None:
    shutil.copy(STORIES / "desk.py", tmp_path)
    file = tmp_path / "story.yaml"
    file.write_text((STORIES / "outbound_busy.yaml").read_text().replace("outcome: busy", "outcome: completed"))
    done = run(file)
    assert done.returncode == 1
    assert "the outcome is busy, not completed" in done.stdout


def test_a_script_of_one_caller_is_no_story() -> None:
    assert not is_story({"steps": []})
    assert is_story({"telephones": {}})
    assert not is_story([])
