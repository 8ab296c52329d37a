"""The page of commands: every command of `duologue`, with its arguments and options, as `--help` describes them.

Rule: every text comes from the commands themselves; none is repeated by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from duologue.cli.app import app


def commands_page(notice: str) -> str:
    root: Any = typer.main.get_command(app)
    commands = list(_commands("duologue", root))
    lines = ["# Commands", "", notice, ""]
    lines += [
        "In a clone the command is `.venv/bin/duologue`; after `pip install 'duologue[cli]'` it is `duologue`.",
        "",
    ]
    lines += ["| command | what it does |", "|---|---|"]
    lines += [f"| [`{path}`](#{path.replace(' ', '-')}) | {_sentence(command.help)} |" for path, command in commands]
    for path, command in commands:
        lines += ["", f"## {path}", "", _text(command.help), "", "```sh", _usage(path, command), "```"]
        options = [parameter for parameter in command.params if parameter.name != "help"]
        if options:
            lines += ["", "| argument or option | default | meaning |", "|---|---|---|"]
            lines += [_row(parameter) for parameter in options]
    return "\n".join([*lines, ""])


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    children = getattr(command, "commands", None)
    if children is None:
        yield path, command
        return
    if path != "duologue" and command.invoke_without_command:
        yield path, command
    for name, child in children.items():
        yield from _commands(f"{path} {name}", child)


def _usage(path: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    words = [_argument(parameter) for parameter in arguments]
    has_options = any(p.param_type_name == "option" and p.name != "help" for p in command.params)
    return " ".join([path, *(["[OPTIONS]"] if has_options else []), *words])


def _argument(parameter: Any) -> str:
    name = str(parameter.metavar or parameter.name).strip("{}[]").upper()
    name += "..." if parameter.nargs == -1 else ""
    return name if parameter.required else f"[{name}]"


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = _argument(parameter)
    else:
        name = ", ".join([*parameter.opts, *parameter.secondary_opts])
    default = "required" if parameter.required else _default(parameter.default)
    variable = f" Environment variable: `{parameter.envvar}`." if parameter.envvar else ""
    return f"| `{name}` | {default} | {_text(parameter.help)}{variable} |"


def _default(value: Any) -> str:
    if value is None or value == "" or value == [] or value == () or value is False or callable(value):
        return ""
    return "on" if value is True else f"`{value}`"


def _sentence(text: str | None) -> str:
    """The first paragraph."""
    return _text((text or "").split("\n\n")[0])


def _text(text: str | None) -> str:
    plain = re.sub(r"\s+", " ", (text or "").replace("\b", "")).strip()
    return plain.replace("|", "\\|").replace("<", "&lt;")
