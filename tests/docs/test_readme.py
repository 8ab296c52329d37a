"""The README's code runs as printed, and its commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import indent

import pytest
from typer.testing import CliRunner

from duologue import Agent
from duologue.cli.app import app
from duologue.core.effects import OpenSession
from duologue.core.leaves import Link, Timer, User
from duologue.ears.local import LocalEars
from duologue.flows import parse_flows
from duologue.testing import Call

ROOT = Path(__file__).parent.parent.parent
pytest_plugins = ["pytester"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
HELLO, SPEECH, FIRST_TEST, MACHINE = BLOCKS


def test_hello_world_runs_as_printed(tmp_path: Path) -> None:
    assert len(HELLO.splitlines()) <= 10
    file = tmp_path / "hello.py"
    file.write_text(HELLO, encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
    printed = re.search(r"print\(call\.heard\)  # (.*)", HELLO)
    assert printed
    assert done.stdout.strip() == printed.group(1)


def test_the_agent_with_ears_and_a_voice_is_made_as_printed() -> None:
    seen: dict[str, object] = {}
    exec(HELLO + SPEECH, seen)
    assert isinstance(seen["agent"], Agent)
    assert seen["agent"].ears is not None


@pytest.mark.parametrize("page", ["speech", "turn-taking"])
def test_the_code_in_the_pages_on_speech_runs(page: str) -> None:
    async def host(request: object) -> AsyncIterator[str]:
        yield "Hello."

    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    seen: dict[str, object] = {"host": host, "ears": LocalEars()}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, seen)


def test_the_flow_in_the_readme_loads() -> None:
    (written,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    assert parse_flows(written).flows["book_flight"].slots == ("origin", "departure_date")


def test_the_first_test_passes_as_printed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_first=FIRST_TEST)
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_test_without_an_agent_is_told_what_to_do(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nobody_answers(call):\n    call.user('hello')\n")
    result = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*define a fixture `agent`*"])


def test_the_machine_runs_as_printed() -> None:
    lines = MACHINE.splitlines()
    seen: dict[str, object] = {}
    exec("\n".join(lines[:5]), seen)
    assert seen["effects"] == (OpenSession(session=1, attempt=0),)
    exec("\n".join(lines[5:]), seen)
    state = seen["state"]
    assert (state.link, state.user) == (Link.UP, User.TALKING)  # type: ignore[attr-defined]
    deadline = seen["next_deadline"](state)  # type: ignore[operator]
    assert (deadline.timer, deadline.due) == (Timer.TALK, 32_000)


def test_the_code_in_the_testing_page_runs(pytester: pytest.Pytester) -> None:
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    first, scripted = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    pytester.makepyfile(test_page=first + "\n\ndef test_scripted():\n" + indent(scripted, "    "))
    pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider").assert_outcomes(passed=2)


def test_the_code_in_the_page_on_brains_works() -> None:
    page = (ROOT / "docs" / "brains.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    seen: dict[str, object] = {}
    exec(first, seen)
    with Call(seen["agent"]) as call:  # type: ignore[arg-type]
        call.user("a table please").expect_called("book_table", people=2).expect_heard("Done: table 7, for 2.")
    exec(second, seen)
    assert Agent(seen["host"], tools=seen["tools"]).sources  # type: ignore[arg-type]


def test_every_command_in_the_table_exists() -> None:
    names = set(re.findall(r"^\| `duologue (\w+)", README, re.MULTILINE))
    known = {command.name or command.callback.__name__ for command in app.registered_commands}  # type: ignore[union-attr]
    known |= {group.name for group in app.registered_groups}
    assert names <= known
    assert len(names) >= 6


def test_every_make_target_that_is_named_exists() -> None:
    named = set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", README, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {first or second for first, second in named} <= targets


def test_every_picture_and_page_that_is_linked_exists() -> None:
    for path in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / path).exists(), path


def test_the_command_line_helps() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "check" in result.output
