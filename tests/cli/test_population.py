"""`duologue simulate --calls N`: random callers on the simulated clock, and what to run for one that failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli import population
from duologue.cli.app import app
from duologue.lab.sim.population import CallResult, play_call


def test_calls_that_pass_are_counted() -> None:
    done = CliRunner().invoke(app, ["simulate", "--calls", "2", "--seed", "3"])
    assert done.exit_code == 0, done.output
    assert "2 calls, seed 3" in done.output
    assert "Every call passed" in done.output


def test_one_call_is_played_with_its_journal(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["simulate", "--seed", "3", "--call", "2", "--journals", str(tmp_path), "--json"])
    data = json.loads(done.stdout)
    assert (data["calls"], data["failed"], data["failures"]) == (1, 0, [])
    assert (tmp_path / "seed-3-call-2.jsonl").exists()


def test_a_failed_call_comes_with_its_journal_and_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def complains(seed: int, call: int, faults: bool, **options: object) -> CallResult:
        result = play_call(seed, call, faults, **options)  # type: ignore[arg-type]
        return result if call == 1 else CallResult(**{**vars_of(result), "complaints": ("it got stuck",)})

    monkeypatch.setattr(population, "play_call", complains)
    options = ["simulate", "--calls", "2", "--seed", "3", "--faults", "--journals", str(tmp_path)]
    done = CliRunner().invoke(app, [*options, "--json"])
    assert done.exit_code == 1
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["call"] == 2
    assert failure["again"] == "duologue simulate --seed 3 --call 2 --faults"
    assert Path(failure["journal"]).exists()
    shown = CliRunner().invoke(app, options)
    assert shown.exit_code == 1
    assert "it got stuck" in shown.output


def vars_of(result: CallResult) -> dict[str, object]:
    return {name: getattr(result, name) for name in CallResult.__dataclass_fields__}


MAKER = """
from duologue import Agent, Context

def make(context: Context) -> Agent:
    assert context.info.line in ("", "test"), context.info
    return Agent(lambda request: "You said " + request.text, profile="words")

def broken(context: Context) -> Agent:
    raise KeyError("customers")
"""


def test_a_function_that_makes_agents_is_called_for_each_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_for_population.py").write_text(MAKER)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["simulate", "--calls", "2", "--agent", "made_for_population:make", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["turns"] > 0
    broken = CliRunner().invoke(app, ["simulate", "--calls", "1", "--agent", "made_for_population:broken"])
    assert isinstance(broken.exception, KeyError)
