"""`duologue check`: what was explored, and the violations, as a table and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.core.settings import PROFILES
from duologue.lab.check import run
from duologue.lab.check.core.check import CoreExplorer, Findings, Violation
from duologue.lab.check.core.scopes import QUICK
from duologue.lab.check.hearing.check import HearingFindings
from duologue.lab.check.hearing.report import sum_up_hearing


@pytest.fixture
def violations(monkeypatch: pytest.MonkeyPatch) -> list[Violation]:
    """Only 300 states are explored, in this process; the check reports the violations that a test puts here."""
    found: list[Violation] = []

    def run_check(_profiles: Any, _size: str, progress: Callable[[Findings], None], **_: Any) -> run.Report:
        explored = CoreExplorer(PROFILES["confirm"], QUICK[2]).run(states_max=300)
        progress(explored)
        views = {"lifecycle": {"honest": True, "moves": 3, "amendments": 0}}
        return run.Report((explored,), tuple(found), 5, 1, 2, (), views, 0.1)

    monkeypatch.setattr(run, "run_check", run_check)
    return found


def test_what_was_explored_is_a_table(violations: list[Violation]) -> None:
    done = CliRunner().invoke(app, ["check", "--quick"])
    assert done.exit_code == 0, done.output
    assert "rows fired      5 of" in done.stdout
    assert "view lifecycle" in done.stdout
    assert "No violation" in done.stdout
    assert "confirm/link:" in done.stderr


def test_a_violation_is_shown_with_its_trace_and_exit_code_1(violations: list[Violation]) -> None:
    violations.append(Violation("1 never stuck", "no deadline in [held]", ("Start", "SpeechStarted")))
    done = CliRunner().invoke(app, ["check", "--quick"])
    assert done.exit_code == 1
    assert "1 never stuck: no deadline in [held]" in done.stdout
    assert "    SpeechStarted" in done.stdout
    as_json = CliRunner().invoke(app, ["check", "--quick", "--json"])
    assert (as_json.exit_code, json.loads(as_json.stdout)["violations"]) == (1, 1)


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    done = CliRunner().invoke(app, ["check", "--profile", "loud"])
    assert isinstance(done.exception, DuologueError)
    assert str(done.exception) == "unknown profile 'loud': use one of immediate, confirm, words"


def test_an_unknown_part_is_refused_with_the_known_ones() -> None:
    done = CliRunner().invoke(app, ["check", "--only", "ears"])
    assert isinstance(done.exception, DuologueError)
    assert str(done.exception) == "unknown part 'ears': use one of core, hearing, ownership, dialogue"


def test_only_the_part_that_is_asked_for_is_explored(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[str] = []

    def run_check(_profiles: Any, _size: str, parts: list[str], **_: Any) -> run.Report:
        wanted.extend(parts)
        return run.with_hearing(
            run.Report((), (), 0, 0, 0, (), {}, 0.1), sum_up_hearing([HearingFindings("a", "b", 7, 9)])
        )

    monkeypatch.setattr(run, "run_check", run_check)
    done = CliRunner().invoke(app, ["check", "--only", "hearing"])
    assert wanted == ["hearing"]
    assert "7 states of both machines" in done.stdout
    assert "No violation in 7 states, 9 steps." in done.stdout
    assert "rows fired  " not in done.stdout


def test_an_exploration_that_was_stopped_is_named_with_how_far_it_went(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = HearingFindings("confirm", "words", 40_002, 90_000, complete=False, depth=11)
    hearing = sum_up_hearing([HearingFindings("confirm", "late", 7, 9), stopped])
    report = run.with_hearing(run.Report((), (), 0, 0, 0, (), {}, 0.1), hearing)
    monkeypatch.setattr(run, "run_check", lambda *_, **__: report)
    shown = " ".join(CliRunner().invoke(app, ["check", "--only", "hearing"]).stdout.split())
    assert "1 of 2 explorations are whole" in shown
    assert "with every trace of up to so many inputs: confirm/words 40,002 (11 inputs)" in shown
    assert "confirm/late" not in shown
