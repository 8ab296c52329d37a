"""The command `duologue flows explain`."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from duologue.cli.app import app
from tests.flows.partly_understood import VISIT


def test_explain_prints_the_interpreters_and_who_took_the_message(tmp_path: Path) -> None:
    file = tmp_path / "visit.yaml"
    file.write_text(VISIT, encoding="utf-8")
    given = ["flows", "explain", str(file), "six", "--slot", "people", "--today", "2026-03-04"]
    shown = CliRunner().invoke(app, given).stdout
    assert "took it" in shown
    assert "people = 6" in shown
    found = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert (found["filled"], found["tried"][-1]["name"]) == ({"people": 6}, "value")
