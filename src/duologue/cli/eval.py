"""`duologue eval`: an LLM plays a caller and calls an agent again and again; another LLM judges the calls.

Rule: the exit code is 0 if every case passed, 1 if a case failed, and 2 if the suite is invalid.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from duologue.core.errors import DuologueError

from .json_output import JsonOption, write_json
from .terminal_style import GREEN, RED

if TYPE_CHECKING:
    from duologue.ports.brain import Brain
    from duologue.runtime.agent_source import AgentOrMaker
    from duologue.testing.evals.report import EvalReport
    from duologue.testing.evals.run import EvalModels, EvalRun
    from duologue.testing.evals.suite import EvalSuite


def eval_command(
    suite: Annotated[Path, typer.Argument(help="The suite (YAML): callers, goals, assertions and rubrics.")],
    agent: Annotated[str, typer.Option(help="The agent as module:agent.")],
    caller: Annotated[str, typer.Option(help="The model that calls, on a chat-completions server.")],
    judge: Annotated[str, typer.Option(help="The model that judges; needed for rubrics.")] = "",
    llm_url: Annotated[
        str | None, typer.Option(help="The base URL of the chat-completions server; default OpenAI.")
    ] = None,
    judge_url: Annotated[
        str | None, typer.Option(help="The base URL of the judge's server, if it isn't the caller's server.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="How often each case runs, instead of the number in the suite.")
    ] = None,
    case: Annotated[str, typer.Option(help="Run only the case with this name.")] = "",
    seed: Annotated[int, typer.Option(help="The seed that decides when callers interrupt.")] = 1,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with the timeline of each call to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Let an LLM call an agent, check the calls, and let another LLM judge them."""
    from duologue.runtime.find_agent import find_agent_or_maker
    from duologue.testing.evals.suite import InvalidSuite, load_suite

    err = Console(stderr=True, highlight=False)
    try:
        found = _chosen(load_suite(suite), case, runs)
    except InvalidSuite as problem:
        err.print(escape(str(problem)), soft_wrap=True)
        raise typer.Exit(2) from None
    if not judge and any(one.rubric for one in found.cases):
        raise DuologueError("the suite has a rubric, so it needs --judge MODEL")
    from duologue.testing.evals.run import EvalModels

    models = EvalModels(_model(caller, llm_url), _model(judge, judge_url or llm_url) if judge else None)
    made = find_agent_or_maker(agent)
    with tempfile.TemporaryDirectory(prefix="duologue-eval-") as folder:
        report = asyncio.run(_run(found, made, models, seed, Path(folder) if html else None, err))
        _write(report, junit, html)
    if as_json:
        from duologue.testing.evals.report import report_to_json

        write_json(report_to_json(report))
    else:
        _show(report)
    raise typer.Exit(0 if report.is_pass else 1)


def _chosen(suite: EvalSuite, case: str, runs: int | None) -> EvalSuite:
    cases = tuple(one for one in suite.cases if not case or one.name == case)
    if not cases:
        names = ", ".join(one.name for one in suite.cases)
        raise DuologueError(f"the suite has no case {case!r}; it has {names}")
    return replace(suite, cases=tuple(replace(one, runs=runs or one.runs) for one in cases))


def _model(name: str, url: str | None) -> Brain:
    from duologue.brains.chat.brain import ChatBrain

    return ChatBrain(name, base_url=url)


async def _run(
    suite: EvalSuite, agent: AgentOrMaker, models: EvalModels, seed: int, journals: Path | None, err: Console
) -> EvalReport:
    from duologue.testing.evals.report import reasons_of, report_of
    from duologue.testing.evals.run import run_suite

    runs: list[EvalRun] = []
    async for run in run_suite(suite, agent, models, seed=seed, journals=journals):
        runs.append(run)
        why = "" if run.is_pass else f": {reasons_of(run)[0]}"
        err.print(f"{run.case} #{run.number} {'passed' if run.is_pass else 'failed'}{escape(why)}", soft_wrap=True)
    return report_of(suite, runs)


def _write(report: EvalReport, junit: Path | None, html: Path | None) -> None:
    from duologue.testing.evals.page import report_to_html
    from duologue.testing.evals.report import report_to_junit

    for path, text in ((junit, report_to_junit), (html, report_to_html)):
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text(report), encoding="utf-8", errors="replace")
            except OSError as problem:
                raise DuologueError(f"{path}: {problem.strerror}") from None


def _show(report: EvalReport) -> None:
    out = Console(file=sys.stdout, highlight=False)
    for case in report.cases:
        low, high = case.interval
        how, colour = ("passed", GREEN) if case.is_pass else ("failed", RED)
        out.print(
            f"[{colour}]{how}[/]  {escape(case.case.name)}: {case.passed} of {len(case.runs)} runs "
            f"({low:.0%} to {high:.0%} with 95 % confidence)",
            soft_wrap=True,
        )
    if report.unusable:
        out.print(f"{report.unusable} answers of the judge could not be used")
