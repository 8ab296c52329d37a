"""The option `--json`: the same in every command that has it, and one object on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from duologue.cli.app import app
from duologue.cli.json_output import write_json


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))
    if not hasattr(command, "commands"):
        yield path, command


def test_json_reads_the_same_in_every_command() -> None:
    options = [
        option
        for _, command in commands(typer.main.get_command(app))
        for option in command.params
        if "--json" in option.opts
    ]
    assert len(options) > 10
    assert {option.help for option in options} == {"Write one JSON object instead of text."}


def test_an_object_is_written_to_standard_output_as_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"said": "grüß Gott", "turns": [1, 2]})
    written = capsys.readouterr().out
    assert written.isascii()
    assert written.endswith("}\n")
    assert json.loads(written) == {"said": "grüß Gott", "turns": [1, 2]}
