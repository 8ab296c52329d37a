"""What a page prints: its code, its commands and the extras that it installs."""

from __future__ import annotations

import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import typer.main

from duologue.cli.app import app

ROOT = Path(__file__).parent.parent.parent


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def python_blocks(text: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def shell_lines(text: str) -> list[str]:
    """The commands of the shell blocks, without comments, each part of `a && b` by itself."""
    blocks = re.findall(r"```(?:sh|console|bash)\n(.*?)```", text, re.DOTALL)
    lines = [re.split(r"\s+#", line)[0].strip() for block in blocks for line in block.splitlines()]
    return [part.strip() for line in lines for part in line.split("&&") if part.strip()]


def check_commands(text: str) -> int:
    """Every `duologue …` that a page prints is a command with these options. Returns how many there are."""
    printed = [line for line in shell_lines(text) if line.startswith("duologue ")]
    printed += [words for words in re.findall(r"`(duologue [a-z][^`\n]*)`", text) if "…" not in words.split()[1]]
    for line in printed:
        command: Any = _all_commands()
        words = _words(line)[1:]
        while words and hasattr(command, "commands") and not words[0].strip("[]").startswith(("--", "OPTIONS")):
            assert words[0] in command.commands, f"no such command: {line}"
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for option in (word.split("=")[0] for word in words if word.startswith("--")):
            assert option in known | {"--help"}, f"no option {option}: {line}"
    return len(printed)


def check_extras(text: str) -> None:
    """Every `duologue[…]` that a page installs has these extras."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    known = set(data["project"]["optional-dependencies"])
    for listed in re.findall(r"'(?:duologue|\.)\[([a-z,]+)\]'", text):
        assert set(listed.split(",")) <= known, f"duologue[{listed}]"


@cache
def _all_commands() -> Any:
    return typer.main.get_command(app)


def _words(line: str) -> list[str]:
    """The words of a command; brackets as in `[--json]` mark what may be left out."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return [word.strip("[]") for word in words]
