"""`duologue bench`: a table with budgets, or the numbers as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.lab.bench import core, noise
from tests.needs import needs_package

MEASURED: dict[str, Any] = {
    "us_per_transition": 7.5,
    "us_per_ignored": 1.4,
    "bytes_per_state": 900,
    "within_budget": {"us_per_transition": True, "us_per_ignored": False, "bytes_per_state": True},
    "note": "A note.",
}


@pytest.fixture(autouse=True)
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers are given, so that a busy machine can't change them."""
    monkeypatch.setattr(core, "bench_core", lambda: MEASURED)


def test_a_benchmark_is_a_table_with_budgets_and_a_note() -> None:
    done = CliRunner().invoke(app, ["bench", "core"])
    assert done.exit_code == 0
    assert "budget" in done.stdout
    row = next(line for line in done.stdout.splitlines() if "core, per transition" in line)
    assert "7.5" in row
    assert "12" in row, "its budget"
    assert "missed" not in row
    assert "missed" in next(line for line in done.stdout.splitlines() if "per ignored event" in line)
    assert "A note." in done.stdout


def test_a_benchmark_as_json_is_what_was_measured() -> None:
    done = CliRunner().invoke(app, ["bench", "core", "--json"])
    assert json.loads(done.stdout) == MEASURED


@pytest.mark.parametrize(
    "name",
    ["core", "runtime", "ears", "server", "store", "dialogue", "realtime", "phone", "panel", "page", "echo", "opus"],
)
def test_every_benchmark_describes_itself(name: str) -> None:
    done = CliRunner().invoke(app, ["bench", name, "--help"])
    assert done.exit_code == 0
    assert "Measure" in done.stdout
    assert "--json" in done.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--transport", "smoke"], "use pcm, opus or both"), ([], "no recording in this file has an end of turn")],
)
def test_page_refuses_what_it_cannot_play(tmp_path: Path, options: list[str], says: str) -> None:
    needs_package("playwright", "pip install 'duologue[dev]'")
    (tmp_path / "labels.jsonl").write_text('{"id": "a", "wav": "a.wav", "expected": [], "forbidden": []}\n')
    done = CliRunner().invoke(app, ["bench", "page", "--labels", str(tmp_path / "labels.jsonl"), *options])
    assert isinstance(done.exception, DuologueError)
    assert says in str(done.exception)


def test_noise_is_a_table_of_suppressors(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {level: {"none": 5, "webrtc 2": 10} for level in ("none", "20 dB", "10 dB", "5 dB")}
    both = {"none": 0.0, "webrtc 2": 2.0}
    found = {"recordings": 3, "words": 50, "errors": errors, "cpu_ms": both, "delay_ms": both}
    monkeypatch.setattr(noise, "bench_noise", lambda *given: found)
    done = CliRunner().invoke(app, ["bench", "noise", "speech.jsonl", "noise.jsonl"])
    assert done.exit_code == 0
    row = next(line for line in done.stdout.splitlines() if "webrtc 2" in line)
    assert row.count("20.0 %") == 4
    assert json.loads(CliRunner().invoke(app, ["bench", "noise", "a", "b", "--json"]).stdout) == found


def test_a_set_that_is_missing_is_named() -> None:
    done = CliRunner().invoke(app, ["bench", "noise", "speech.jsonl", "missing.jsonl"])
    assert isinstance(done.exception, DuologueError)
    assert "missing.jsonl can't be read" in str(done.exception)
