"""The report of a whole check."""

from __future__ import annotations

import json

from duologue.core.machine import MACHINE
from duologue.core.views import VIEWS
from duologue.lab.check.core.check import Findings, Violation
from duologue.lab.check.core.promises import PROMISES
from duologue.lab.check.hearing.check import HearingFindings
from duologue.lab.check.hearing.report import HearingReport, sum_up_hearing
from duologue.lab.check.ownership.check import OwnershipFindings, OwnershipReport, sum_up_ownership
from duologue.lab.check.run import sum_up, with_hearing, with_ownership


def complete() -> Findings:
    """An exploration in which everything happened that should happen."""
    return Findings(
        "confirm",
        "talk",
        {},
        states=10,
        steps=20,
        fired={*range(len(MACHINE.rows)), *(-1 - index for index in range(len(MACHINE.rules)))},
        moves={
            name: set(view.allowed()) - {(move.source, move.target) for move in view.impossible}
            for name, view in VIEWS.items()
        },
        tested={promise.name for promise in PROMISES},
    )


def test_a_complete_check_holds() -> None:
    report = sum_up([complete(), complete()], whole=True, seconds=1.0)
    assert report.holds
    data = json.loads(json.dumps(report.to_json()))
    assert (data["states"], data["steps"], data["violations"]) == (20, 40, 0)
    assert data["rows_fired"] == data["rows"]
    assert data["promises_tested"] == data["promises"]


def test_a_row_a_rule_or_a_promise_that_never_applied_is_a_violation() -> None:
    found = complete()
    found.fired -= {0, -1}
    found.tested -= {PROMISES[0].name}
    report = sum_up([found], whole=True, seconds=1.0)
    assert [seen.message for seen in report.violations] == list(report.unfired)
    assert report.unfired == (
        MACHINE.rows[0].name,
        f"rule {MACHINE.rules[0].name}",
        f"promise: {PROMISES[0].name}",
    )


def test_what_never_applied_is_no_violation_if_a_profile_was_left_out() -> None:
    report = sum_up([Findings("confirm", "talk", {})], whole=False, seconds=1.0)
    assert report.holds
    assert report.unfired


def test_a_move_that_no_view_explains_is_a_violation() -> None:
    found = complete()
    missing = found.moves["lifecycle"].pop()
    report = sum_up([found], whole=True, seconds=1.0)
    assert [seen.message for seen in report.violations] == [
        f"lifecycle: {missing[0]} -> {missing[1]} is allowed, but was never made"
    ]
    assert not report.views["lifecycle"]["honest"]


def test_violations_of_explorations_are_counterexamples_of_the_report() -> None:
    found = complete()
    found.violations.append(Violation("a law", "is broken", ("first", "second")))
    report = sum_up([found], whole=True, seconds=1.0)
    assert not report.holds
    assert report.to_json()["counterexamples"] == [
        {"law": "a law", "message": "is broken", "trace": ["first", "second"]}
    ]


def test_the_report_contains_what_was_found_about_ownership() -> None:
    report = sum_up([complete()], whole=True, seconds=1.0)
    assert report.to_json()["ownership"] is None
    held = with_ownership(report, sum_up_ownership([OwnershipFindings("ends", states=5, steps=9)]))
    assert held.holds
    assert held.to_json()["ownership"]["states"] == 5
    broken = with_ownership(report, OwnershipReport((), (Violation("1 one owner", "two nodes", ("a",)),)))
    assert not broken.holds
    assert broken.to_json()["counterexamples"][0]["law"] == "1 one owner"


def test_the_report_contains_what_was_found_about_hearing() -> None:
    report = sum_up([complete()], whole=True, seconds=1.0)
    assert report.to_json()["hearing"] is None
    held = with_hearing(report, sum_up_hearing([HearingFindings("confirm", "words", states=5, steps=9)]))
    assert held.holds
    assert held.to_json()["hearing"]["states"] == 5
    broken = with_hearing(report, HearingReport((), (Violation("1 no word is in two turns", "'go1'", ("a",)),)))
    assert not broken.holds
