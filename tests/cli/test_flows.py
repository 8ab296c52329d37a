"""`duologue flows`: check, draw, schema and test."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from duologue.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"


def flows(*args: object) -> Result:
    return CliRunner().invoke(app, ["flows", *map(str, args)])


def test_a_valid_file_is_listed_with_its_contents() -> None:
    done = flows("check", EXAMPLES / "flights.yaml")
    assert done.exit_code == 0
    assert "book_flight" in done.stdout
    assert "search_flights" in done.stdout
    data = json.loads(flows("check", EXAMPLES / "flights.yaml", "--json").stdout)
    assert [file["valid"] for file in data["files"]] == [True]


def test_every_invalid_file_is_reported_and_the_exit_code_is_1(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("version: 1\nflows: 7\n")
    done = flows("check", EXAMPLES / "table.yaml", bad, "--json")
    assert done.exit_code == 1
    assert [file["valid"] for file in json.loads(done.stdout)["files"]] == [True, False]
    shown = flows("check", bad)
    assert shown.exit_code == 1
    assert f"{bad.name}:" in shown.stdout.replace("\n", "")


def test_a_chart_is_printed_or_written_to_a_file(tmp_path: Path) -> None:
    printed = flows("draw", EXAMPLES / "table.yaml").stdout
    out = tmp_path / "table.mmd"
    assert flows("draw", EXAMPLES / "table.yaml", "--out", out).stdout == ""
    assert out.read_text(encoding="utf-8") == printed
    refused = flows("draw", EXAMPLES / "table.yaml", "--out", tmp_path / "no" / "folder.mmd")
    assert "No such file or directory" in str(refused.exception)


def test_the_schema_is_json_schema() -> None:
    assert json.loads(flows("schema").stdout)["type"] == "object"


def test_stories_that_pass_and_stories_that_fail(tmp_path: Path) -> None:
    stories = EXAMPLES / "table.stories.yaml"
    done = flows("test", stories)
    assert done.exit_code == 0
    assert "✓" in done.stdout
    text = stories.read_text(encoding="utf-8").replace("flows: table.yaml", f"flows: {EXAMPLES / 'table.yaml'}")
    broken = tmp_path / "broken.stories.yaml"
    broken.write_text(text.replace("says: On which day?", "says: Never said.", 1), encoding="utf-8")
    failed = flows("test", broken, "--json")
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["wrong"] == 1
