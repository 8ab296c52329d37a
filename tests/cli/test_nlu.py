"""`duologue nlu bench`: how well a file's messages are understood, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from duologue.cli.app import app

EXAM = {
    "examples": {"book": ["book a table", "reserve a table please"], "weather": ["is it sunny", "will it rain today"]},
    "test": [["please book a table", "book"], ["will it rain", "weather"]],
    "out_of_scope": ["sing me a song"],
}


def test_the_accuracy_is_shown_and_written_as_json(tmp_path: Path) -> None:
    file = tmp_path / "exam.json"
    file.write_text(json.dumps(EXAM))
    table = CliRunner().invoke(app, ["nlu", "bench", str(file), "--words"])
    assert table.exit_code == 0
    assert "accuracy" in table.stdout
    assert "100.0 %" in table.stdout
    data = json.loads(CliRunner().invoke(app, ["nlu", "bench", str(file), "--words", "--json"]).stdout)
    assert (data["accuracy"], data["messages"], data["by"]) == (1.0, 3, "words")
