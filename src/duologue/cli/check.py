"""`duologue check`: explores every reachable state of the state machines, and reports each law (what must never happen)
and each promise (what must follow an input) that they break."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from duologue.core.errors import DuologueError
from duologue.core.settings import PROFILES

from .json_output import JsonOption, write_json

if TYPE_CHECKING:
    from duologue.lab.check.core.check import Findings
    from duologue.lab.check.run import Report

_OUT = Console()
_ERR = Console(stderr=True)


def check_command(
    profile: Annotated[
        list[str] | None, typer.Option(help="Explore only this profile; repeat the option for several.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Explore only the states nearest to the start, for a test run.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Explore with the default limits and two jobs at once; takes minutes.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Explore only this part: core, hearing, ownership or dialogue; repeat for several."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explore every reachable state of the state machines, and check their laws, promises and views."""
    from duologue.lab.check.run import PARTS

    names = profile or list(PROFILES)
    if unknown := [name for name in names if name not in PROFILES]:
        raise DuologueError(f"unknown profile {unknown[0]!r}: use one of {', '.join(PROFILES)}")
    parts = only or list(PARTS)
    if unknown := [part for part in parts if part not in PARTS]:
        raise DuologueError(f"unknown part {unknown[0]!r}: use one of {', '.join(PARTS)}")
    report = _run_check(names, "full" if full else "quick" if quick else "small", parts)
    if as_json:
        write_json(report.to_json())
    else:
        _show_check(report, quick)
    if not report.holds:
        raise typer.Exit(1)


def _run_check(names: list[str], size: str, parts: list[str]) -> Report:
    from duologue.lab.check.core.scopes import SCOPES
    from duologue.lab.check.run import CORE, run_check

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_ERR, transient=True) as bar:
        scopes = len(names) * len(SCOPES[size]) if CORE in parts else None
        task = bar.add_task("exploring", total=scopes)

        def advance(found: Findings) -> None:
            bar.update(task, advance=1)
            verdict = f"{len(found.violations)} violations" if found.violations else "no violation"
            bar.console.print(f"{found.profile}/{found.scope}: {found.states:,} states, {verdict}", highlight=False)

        return run_check(names, size, progress=advance, parts=parts)


def _show_check(report: Report, quick: bool = False) -> None:
    data = report.to_json()
    if quick:
        _OUT.print("Only the quick part: explorations may stop before they have visited every state.")
    if report.explorations:
        _show_core(report, data)
    if heard := data["hearing"]:
        _OUT.print(
            f"hearing            {heard['states']:,} states of both machines, {heard['laws']} laws,"
            f" {heard['rows_fired']} of {heard['rows']} rows fired, {heard['cpu_seconds']:.1f} CPU s"
        )
        _show_bounds(heard["explorations"])
    if owned := data["ownership"]:
        _OUT.print(
            f"ownership          {owned['states']:,} states of two nodes and a store, {owned['laws']} laws,"
            f" {owned['promises']} promises,"
            f" {owned['rows_fired']} of {owned['rows']} rows fired, {owned['cpu_seconds']:.1f} CPU s"
        )
        _show_bounds(owned["explorations"])
    if talked := data["dialogue"]:
        _OUT.print(
            f"dialogue           {talked['states']:,} states of {talked['domains']} small domains,"
            f" {talked['rows_fired']} of {talked['rows']} rows taken,"
            f" {talked['moves_made']} of {talked['moves']} moves made, {talked['cpu_seconds']:.1f} CPU s"
        )
        _show_bounds(talked["explorations"])
    if report.holds:
        explored = [one for one in (data if report.explorations else None, heard, owned, talked) if one]
        states, steps = (sum(one[name] for one in explored) for name in ("states", "steps"))
        _OUT.print(f"[bold green]No violation[/] in {states:,} states, {steps:,} steps.")
    for violation in report.violations:
        _OUT.print(f"[bold red]{violation.law}[/]: {escape(violation.message)}", highlight=False)
        for line in violation.trace:
            _OUT.print(f"    {line}", markup=False, highlight=False)


def _show_bounds(explorations: list[dict[str, Any]]) -> None:
    """Name the explorations that were stopped before they had visited every state, and how far each of them went."""
    stopped = [one for one in explorations if not one["complete"]]
    _OUT.print(f"                   {len(explorations) - len(stopped)} of {len(explorations)} explorations are whole")
    if stopped:
        shown = (f"{_place(one)} {one['states']:,} ({one['depth']} inputs)" for one in stopped)
        _OUT.print(
            "                   stopped at a number of states, with every trace of up to so many inputs:"
            f" {', '.join(shown)}",
            highlight=False,
        )


def _place(exploration: dict[str, Any]) -> str:
    """The name of an exploration for the output: its profile and scope, or its domain."""
    return "/".join(exploration[name] for name in ("profile", "scope", "domain") if name in exploration)


def _show_core(report: Report, data: dict[str, Any]) -> None:
    table = Table(title="Explored", title_justify="left")
    for column in ("profile", "scope", "states", "steps", "CPU s", "bounds"):
        table.add_column(column, justify="right" if column in ("states", "steps", "CPU s") else "left")
    for found in report.explorations:
        bounds = ", ".join(f"{name} {value}" for name, value in found.bounds.items())
        table.add_row(
            found.profile, found.scope, f"{found.states:,}", f"{found.steps:,}", f"{found.seconds:.1f}", bounds
        )
    _OUT.print(table)
    _show_bounds(data["explorations"])
    _OUT.print(f"rows fired      {data['rows_fired']} of {data['rows']}")
    _OUT.print(f"rules fired     {data['rules_fired']} of {data['rules']}")
    _OUT.print(f"promises tested {data['promises_tested']} of {data['promises']}")
    for name, view in report.views.items():
        verdict = "[green]honest[/]" if view["honest"] else "[red]not honest[/]"
        _OUT.print(f"view {name:<13} {verdict}, {view['moves']} moves seen, {view['amendments']} amendments")
