"""The report as a page."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from duologue.testing.evals.page import report_to_html
from duologue.testing.evals.report import report_of
from duologue.testing.evals.run import EvalModels, run_case
from tests.testing.evals.scripted_models import caller, desk, suite_of


def test_the_page_has_each_call_with_its_timeline_and_escapes_what_was_said(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    models = EvalModels(caller("a table for <b>two</b>"))
    run = asyncio.run(run_case(suite.cases[0], desk(), models, 1, 1, tmp_path / "call.jsonl"))
    page = report_to_html(report_of(suite, [run]))
    assert "&lt;b&gt;two" in page
    assert "<b>two" not in page
    assert "<iframe srcdoc=" in page
    assert "Duologue timeline" in page
    assert "1 of 1" in page
    assert "<iframe" not in report_to_html(report_of(suite, [replace(run, journal=tmp_path / "missing.jsonl")]))
