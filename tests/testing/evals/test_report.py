"""Reports: shares with their confidence, JSON and JUnit."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from duologue.testing.evals.judge import CallJudgement, Verdict
from duologue.testing.evals.report import report_of, report_to_json, report_to_junit, wilson
from duologue.testing.evals.run import EvalRun
from duologue.testing.evals.suite import EvalCase, EvalSuite

CASE = EvalCase("one", 1, "x", pass_share=0.5)
GOOD = EvalRun("one", 1, 1, 2, 1_500, transcript="caller: hi")
BAD = EvalRun("one", 2, 2, broken=("a < b\x07",), transcript="agent: ]]>")
UNJUDGED = EvalRun("one", 3, 3, judgement=CallJudgement((Verdict("polite", None, "nonsense"),), 2))
BROKEN = EvalRun("one", 4, 4, error="KeyError: 'x'")


def report(*runs: EvalRun):  # type: ignore[no-untyped-def]
    return report_of(EvalSuite("Desk", Path("desk.yaml"), (CASE,)), runs)


@pytest.mark.parametrize(
    ("passed", "runs", "low", "high"), [(3, 3, 0.438, 1.0), (0, 3, 0.0, 0.562), (50, 100, 0.404, 0.596), (0, 0, 0, 1)]
)
def test_few_runs_are_no_certainty(passed: int, runs: int, low: float, high: float) -> None:
    found = wilson(passed, runs)
    assert found[0] == pytest.approx(low, abs=1e-3)
    assert found[1] == pytest.approx(high, abs=1e-3)


def test_a_case_passes_with_the_share_that_it_asks_for() -> None:
    assert report(GOOD, BAD).is_pass
    assert not report(GOOD, BAD, BROKEN).is_pass
    assert not report().is_pass


def test_json_has_the_reasons_and_counts_what_the_judge_could_not_say() -> None:
    data = json.loads(json.dumps(report_to_json(report(GOOD, BAD, UNJUDGED, BROKEN))))
    (case,) = data["cases"]
    assert (data["passed"], case["runs_passed"], case["runs"]) == (False, 1, 4)
    assert data["unusable_verdicts"] == 2
    assert [one["reasons"] for one in case["results"]] == [
        [],
        ["a < b\x07"],
        ["no verdict: polite (nonsense)"],
        ["KeyError: 'x'"],
    ]


def test_junit_has_a_test_for_each_run_and_is_valid_xml() -> None:
    root = ET.fromstring(report_to_junit(report(GOOD, BAD, BROKEN)))
    assert root.attrib == {"name": "Desk", "tests": "3", "failures": "1", "errors": "1"}
    assert [len(case) for case in root] == [0, 1, 1]
    assert [one.tag for case in root for one in case] == ["failure", "error"]
