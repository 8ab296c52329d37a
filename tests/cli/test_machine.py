"""`duologue rows` and `duologue diagram`: the machine as a list and as a diagram."""

from __future__ import annotations

import json

from tests.cli.command_line import run


def test_a_diagram_is_written_to_standard_output() -> None:
    assert "\nstateDiagram-v2\n" in run("diagram", "--view", "lifecycle").stdout
    assert run("diagram", "--view", "lifecycle", "--format", "svg").stdout.startswith("<svg")


def test_the_row_that_explains_a_behaviour_is_found_by_a_word() -> None:
    found = json.loads(run("rows", "onset_holds", "--json").stdout)["rows"]
    assert [entry["row"] for entry in found] == ["voice: playing + SpeechStarted [onset_holds] -> held"]


def test_rows_are_shown_with_their_guards() -> None:
    assert "[onset_holds]" in run("rows", "onset_holds").stdout


def test_a_word_that_no_row_contains_is_an_error() -> None:
    done = run("rows", "[nonsense]")
    assert done.returncode == 1
    assert done.stderr.startswith("error: no row or rule contains '[nonsense]'")
