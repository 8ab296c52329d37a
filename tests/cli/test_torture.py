"""`duologue torture`: the result as a table, and how to repeat a run that failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.lab.torture import hostile_run, report, run
from duologue.lab.torture.hostile_verdict import HostilePhase, JudgedPhase, judge
from duologue.lab.torture.verdict import Finding

OPTIONS = ["torture", "--nodes", "2", "--seed", "11", "--minutes", "0.5"]


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The servers aren't started; the run finds what a test puts here."""
    found: list[Any] = []

    def play(started: Any) -> run.Run:
        started.close()
        folder = Path("/tmp/logs") if found else None
        return run.Run(run.TorturePlan(2, 50, 11, 30.0, ""), {"turns_lost": 0}, found, folder)

    def rows(result: dict[str, Any]) -> list[tuple[str, str, str]]:
        return [("turns lost", str(result["turns_lost"]), "0")]

    monkeypatch.setattr(report, "rows", rows)

    monkeypatch.setattr(run, "play", play)
    return found


def test_a_run_that_holds_is_a_table(findings: list[Any]) -> None:
    done = CliRunner().invoke(app, OPTIONS)
    assert done.exit_code == 0, done.output
    assert "Torture, seed 11" in done.stdout
    assert "turns lost" in done.stdout


def test_a_run_that_fails_says_what_how_to_repeat_it_and_where_the_logs_are(findings: list[Any]) -> None:
    findings.append(Finding("stuck", "conversation-1", "no answer"))
    done = CliRunner().invoke(app, [*OPTIONS, "--json"])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["turns_lost"] == 0
    assert "stuck: conversation-1: no answer" in done.stderr
    assert "Run again: duologue torture" in done.stderr
    assert "/tmp/logs" in done.stderr


@pytest.fixture
def hostile_plans(monkeypatch: pytest.MonkeyPatch) -> list[hostile_run.HostilePlan]:
    """The plans of hostile runs, which find a slow phase unless the seed is 0."""
    quiet = HostilePhase("quiet", (("type", 10),), (), 80)
    slow = HostilePhase("type much", (("type", 900),), (), 90, reached={"type much": 5})
    plans: list[hostile_run.HostilePlan] = []

    async def run_hostile(plan: hostile_run.HostilePlan, report: Any) -> list[JudgedPhase]:
        plans.append(plan)
        judged = [judge(quiet, one) for one in (quiet, *([slow] if plan.seed else []))]
        for one in judged:
            report(one.line)
        return judged

    monkeypatch.setattr(hostile_run, "run_hostile", run_hostile)
    return plans


def test_hostile_clients_are_a_table_and_a_broken_law_is_an_error(
    hostile_plans: list[hostile_run.HostilePlan],
) -> None:
    done = CliRunner().invoke(app, ["torture", "--hostile", "--minutes", "0.5", "--seed", "0"])
    assert done.exit_code == 0, done.output
    assert hostile_plans[0].seconds == 30.0
    done = CliRunner().invoke(app, ["torture", "--hostile", "--json"])
    assert done.exit_code == 1
    assert "type much: p95 of the answers is 900 ms, but at most 220 ms are allowed" in done.stderr
    assert not json.loads(done.stdout)["holds"]


@pytest.mark.usefixtures("hostile_plans")
def test_the_table_of_hostile_clients_can_be_markdown_and_each_phase_is_reported() -> None:
    done = CliRunner().invoke(app, ["torture", "--hostile", "--markdown"])
    heading, line, *rows = done.stdout.splitlines()
    assert heading.startswith("| hostile clients | answers | p95 ms | allowed |")
    assert line.count("---") == heading.count("|") - 1
    assert rows[0].startswith("| quiet | 1 | 10 |  |")
    assert rows[1].startswith("| type much | 1 | 900 | 220 |")
    assert {row.count("|") for row in (line, *rows)} == {heading.count("|")}
    assert "quiet: 1 answers, p95 10 ms, 80 MB" in done.stderr
    assert "type much: 1 answers, p95 900 ms (220 ms allowed), 90 MB" in done.stderr
