"""The report of an evaluation as one HTML file: a table of the cases, and each call with its timeline.

Rule: the page needs no other file and no network. Everything that was said is escaped.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from duologue.core.errors import DuologueError
from duologue.replay.journal import read_journal, replay
from duologue.replay.picture import draw_picture
from duologue.replay.words_file import read_words, words_path

from .report import CaseReport, EvalReport, reasons_of
from .run import EvalRun

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.4rem 0.8rem; border-bottom: 1px solid #8885; }
.passed { color: #0d9466; } .failed { color: #e5484d; }
details { margin: 0.5rem 0; } summary { cursor: pointer; }
pre { white-space: pre-wrap; } iframe { width: 100%; height: 36rem; border: 1px solid gray; }
"""


def report_to_html(report: EvalReport) -> str:
    """The report as a complete HTML file."""
    title = escape(report.suite.name)
    rows = "\n".join(_row(case) for case in report.cases)
    unusable = f"<p>{report.unusable} answers of the judge could not be used.</p>" if report.unusable else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>\n'
        f"<body><main><h1>{title}: {_mark(report.is_pass)}</h1>\n"
        "<table><thead><tr><th>case</th><th>result</th><th>runs passed</th><th>95 % interval</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{unusable}\n"
        + "\n".join(_case(case) for case in report.cases)
        + "</main></body></html>\n"
    )


def _row(case: CaseReport) -> str:
    low, high = case.interval
    return (
        f"<tr><td>{escape(case.case.name)}</td><td>{_mark(case.is_pass)}</td>"
        f"<td>{case.passed} of {len(case.runs)}</td><td>{low:.0%} to {high:.0%}</td></tr>"
    )


def _mark(is_pass: bool) -> str:
    return f'<span class="{"passed" if is_pass else "failed"}">{"passed" if is_pass else "failed"}</span>'


def _case(case: CaseReport) -> str:
    return f"<h2>{escape(case.case.name)}</h2>\n<p>{escape(case.case.goal)}</p>\n" + "\n".join(map(_run, case.runs))


def _run(run: EvalRun) -> str:
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in reasons_of(run))
    facts = f"{run.turns} turns, {run.duration_ms / 1000:.1f} s, seed {run.seed}"
    timeline = _timeline(run.journal)
    shown = f'<details><summary>timeline</summary><iframe srcdoc="{escape(timeline)}"></iframe></details>'
    return (
        f"<details{'' if run.is_pass else ' open'}><summary>run {run.number}: {_mark(run.is_pass)} "
        f"<small>{facts}</small></summary><ul>{reasons}</ul><pre>{escape(run.transcript)}</pre>"
        f"{shown if timeline else ''}</details>"
    )


def _timeline(journal: Path | None) -> str:
    """The timeline of a call, as a drawing. Empty if the call's journal is missing or can't be read."""
    if journal is None:
        return ""
    try:
        with journal.open(encoding="utf-8") as lines:
            records = list(replay(read_journal(lines, complete=False)))
    except (OSError, DuologueError):
        return ""
    try:
        with words_path(journal).open(encoding="utf-8") as lines:
            words = read_words(lines, complete=False)
    except (OSError, DuologueError):
        words = ()
    return draw_picture(records, journal.stem, words)
