"""The report of an evaluation: for each case, how many runs passed, how certain this result is, and why runs failed.

Rule: a case passes if at least the required share of its runs passed; the suite sets this share. The report also gives
a 95 % confidence interval (Wilson) for the true share, so that a single run never looks like certainty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from .run import EvalRun
from .suite import EvalCase, EvalSuite

_Z = 1.959964  # of 95 %


def wilson(passed: int, runs: int) -> tuple[float, float]:
    """The 95 % confidence interval (Wilson) for the true share of runs that pass."""
    if runs == 0:
        return 0.0, 1.0
    share, square = passed / runs, _Z * _Z
    middle = (share + square / (2 * runs)) / (1 + square / runs)
    half = _Z * math.sqrt(share * (1 - share) / runs + square / (4 * runs * runs)) / (1 + square / runs)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class CaseReport:
    """The runs of one case: how many passed, and whether that is enough."""

    case: EvalCase
    runs: tuple[EvalRun, ...]

    @property
    def passed(self) -> int:
        return sum(run.is_pass for run in self.runs)

    @property
    def is_pass(self) -> bool:
        return bool(self.runs) and self.passed / len(self.runs) >= self.case.pass_share

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.passed, len(self.runs))


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The runs of a suite."""

    suite: EvalSuite
    cases: tuple[CaseReport, ...]

    @property
    def is_pass(self) -> bool:
        return all(case.is_pass for case in self.cases)

    @property
    def unusable(self) -> int:
        """How many of the judge's answers could not be used."""
        return sum(run.judgement.unusable for case in self.cases for run in case.runs)


def report_of(suite: EvalSuite, runs: Sequence[EvalRun]) -> EvalReport:
    """The report on these runs."""
    return EvalReport(
        suite,
        tuple(CaseReport(case, tuple(run for run in runs if run.case == case.name)) for case in suite.cases),
    )


def reasons_of(run: EvalRun) -> list[str]:
    """Why a run did not pass; empty if the run passed."""
    reasons = [run.error] if run.error else []
    reasons += run.broken
    for verdict in run.judgement.verdicts:
        if verdict.met is not True:
            how = "no verdict" if verdict.met is None else "not met"
            reasons.append(f"{how}: {verdict.criterion}" + (f" ({verdict.why})" if verdict.why else ""))
    return reasons


# -- For programs


def report_to_json(report: EvalReport) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "suite": report.suite.name,
        "passed": report.is_pass,
        "unusable_verdicts": report.unusable,
        "cases": [_case_to_json(case) for case in report.cases],
    }


def _case_to_json(case: CaseReport) -> dict[str, Any]:
    low, high = case.interval
    return {
        "name": case.case.name,
        "passed": case.is_pass,
        "runs_passed": case.passed,
        "runs": len(case.runs),
        "share_low": round(low, 3),
        "share_high": round(high, 3),
        "results": [_run_to_json(run) for run in case.runs],
    }


def _run_to_json(run: EvalRun) -> dict[str, Any]:
    return {
        "number": run.number,
        "seed": run.seed,
        "passed": run.is_pass,
        "turns": run.turns,
        "duration_ms": run.duration_ms,
        "reasons": reasons_of(run),
        "verdicts": [
            {"criterion": verdict.criterion, "met": verdict.met, "why": verdict.why}
            for verdict in run.judgement.verdicts
        ],
        "unusable_verdicts": run.judgement.unusable,
        "transcript": run.transcript.splitlines(),
    }


def report_to_junit(report: EvalReport) -> str:
    """The report in JUnit's XML, with a test case for each run."""
    runs = [run for case in report.cases for run in case.runs]
    errors, failures = sum(bool(run.error) for run in runs), sum(not run.error and not run.is_pass for run in runs)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f"<testsuite name={quoteattr(_xml(report.suite.name))} tests={quoteattr(str(len(runs)))} "
        f'failures="{failures}" errors="{errors}">',
        *(line for run in runs for line in _junit_lines(run, report.suite.name)),
        "</testsuite>",
    ]
    return "\n".join(lines) + "\n"


def _junit_lines(run: EvalRun, suite: str) -> list[str]:
    name = quoteattr(_xml(f"{run.case} #{run.number}"))
    head = f'<testcase classname={quoteattr(_xml(suite))} name={name} time="{run.duration_ms / 1000:.3f}"'
    if run.is_pass:
        return [f"  {head}/>"]
    kind = "error" if run.error else "failure"
    reasons = "\n".join(reasons_of(run))
    body = escape(_xml(f"{reasons}\n\n{run.transcript}"))
    return [
        f"  {head}>",
        f"    <{kind} message={quoteattr(_xml(reasons.splitlines()[0]))}>{body}</{kind}>",
        "  </testcase>",
    ]


def _xml(text: str) -> str:
    """The text without characters that XML can't contain."""
    return "".join(sign if sign in "\t\n\r" or ord(sign) >= 32 else "\N{REPLACEMENT CHARACTER}" for sign in text)
