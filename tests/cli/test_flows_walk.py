"""`duologue flows walk`: random dialogues, the steps they reach, and the laws that hold."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from duologue.cli.app import app

TABLE = str(Path(__file__).parents[2] / "examples" / "table.yaml")


def test_a_walk_shows_what_was_reached_and_that_no_law_was_broken() -> None:
    done = CliRunner().invoke(app, ["flows", "walk", TABLE, "--dialogues", "5"])
    assert done.exit_code == 0
    assert "no law was broken" in done.stdout
    assert "steps reached" in done.stdout


def test_the_same_seed_gives_the_same_walk() -> None:
    def walk(seed: int) -> tuple[int, int]:
        done = CliRunner().invoke(app, ["flows", "walk", TABLE, "--dialogues", "5", "--seed", str(seed), "--json"])
        data = json.loads(done.stdout)
        assert data["broken"] == []
        return data["events"], data["actions"]

    assert walk(1) == walk(1) != walk(2)
