"""The README's code runs as printed, and its commands exist."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.effects import OpenSession
from duologue.core.leaves import Link, Timer, User

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_as_printed() -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code
    lines = code.group(1).splitlines()
    seen: dict[str, object] = {}
    exec("\n".join(lines[:5]), seen)
    assert seen["effects"] == (OpenSession(session=1, attempt=0),)
    exec("\n".join(lines[5:]), seen)
    state = seen["state"]
    assert (state.link, state.user) == (Link.UP, User.TALKING)  # type: ignore[attr-defined]
    deadline = seen["next_deadline"](state)  # type: ignore[operator]
    assert (deadline.timer, deadline.due) == (Timer.TALK, 32_000)


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
