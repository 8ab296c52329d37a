"""`duologue simulate --calls N`: many random callers talk to one agent, and a table shows the results.

Rule: each failed call is shown with its journal and the command that plays the call again.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from duologue.lab.sim.population import CallResult, play_call
from duologue.runtime.agent_source import AgentOrMaker

from .json_output import write_json

out = Console()
err = Console(stderr=True)
FAILURES_SHOWN = 20


def play_population(
    calls: int,
    seed: int,
    faults: bool,
    only: int | None,
    journals: Path | None,
    as_json: bool,
    agent: AgentOrMaker | None = None,
    agent_name: str = "",
) -> int:
    """Play the calls, show the results and return the exit code."""
    numbers = [only] if only is not None else list(range(1, calls + 1))
    results = _play_all(numbers, seed, faults, agent)
    bad = [result for result in results if not result.is_well]
    folder = journals
    if folder is None and (bad or only is not None):
        folder = Path(tempfile.mkdtemp(prefix="duologue-journals-"))
    written = {result.call: _write_journal(result, faults, folder, agent) for result in bad if folder is not None}
    if only is not None and not bad and folder is not None:
        written[only] = _write_journal(results[0], faults, folder, agent)
    data = _summary(results, seed, faults, agent_name, written)
    if as_json:
        write_json(data)
    else:
        _show(results, data, written)
    return 1 if bad else 0


def _play_all(numbers: list[int], seed: int, faults: bool, agent: AgentOrMaker | None) -> list[CallResult]:
    columns = (
        TextColumn("calling"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[bad]}"),
    )
    results = []
    bad = 0
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("calling", total=len(numbers), bad="")
        for number in numbers:
            results.append(play_call(seed, number, faults, agent=agent))
            bad += not results[-1].is_well
            bar.update(task, advance=1, bad=f"[red]{bad} failed[/]" if bad else "")
    return results


def _write_journal(result: CallResult, faults: bool, folder: Path, agent: AgentOrMaker | None) -> Path:
    """Play the call again, this time with a journal, and return the path of the journal."""
    path = folder / f"seed-{result.seed}-call-{result.call}.jsonl"
    play_call(result.seed, result.call, faults, journal=path, agent=agent)
    return path


def _again(seed: int, call: int, faults: bool, agent_name: str) -> str:
    agent = f" --agent {agent_name}" if agent_name else ""
    return f"duologue simulate --seed {seed} --call {call}{' --faults' if faults else ''}{agent}"


def _summary(
    results: list[CallResult], seed: int, faults: bool, agent_name: str, written: dict[int, Path]
) -> dict[str, Any]:
    return {
        "calls": len(results),
        "seed": seed,
        "faults": faults,
        "failed": sum(not result.is_well for result in results),
        "turns": sum(result.turns for result in results),
        "events": sum(result.events for result in results),
        "faults_shown": sum(result.faults for result in results),
        "silence_first_ms_max": max((result.silence.first_ms for result in results), default=0),
        "silence_words_ms_max": max((result.silence.words_ms for result in results), default=0),
        "silence_gap_ms_max": max((result.silence.gap_ms for result in results), default=0),
        "silence_from_voice_first_ms_max": max((result.from_voice.first_ms for result in results), default=0),
        "silence_from_voice_words_ms_max": max((result.from_voice.words_ms for result in results), default=0),
        "silence_from_voice_gap_ms_max": max((result.from_voice.gap_ms for result in results), default=0),
        "untrue_notices": sum(result.untrue for result in results),
        "simulated_s": round(sum(result.simulated_ms for result in results) / 1_000, 1),
        "cpu_s": round(sum(result.cpu_ms for result in results) / 1_000, 2),
        "failures": [
            {
                "call": result.call,
                "profile": result.profile,
                "complaints": list(result.complaints),
                "journal": str(written.get(result.call, "")),
                "again": _again(seed, result.call, faults, agent_name),
            }
            for result in results
            if not result.is_well
        ],
    }


def _show(results: list[CallResult], data: dict[str, Any], written: dict[int, Path]) -> None:
    table = Table(title=f"{data['calls']} calls, seed {data['seed']}", title_justify="left")
    for column in ("profile", "calls", "turns", "events", "faults shown", "simulated", "CPU", "failed"):
        table.add_column(column, justify="left" if column == "profile" else "right")
    for profile in dict.fromkeys(result.profile for result in results):
        mine = [result for result in results if result.profile == profile]
        bad = sum(not result.is_well for result in mine)
        table.add_row(
            profile,
            f"{len(mine):,}",
            f"{sum(result.turns for result in mine):,}",
            f"{sum(result.events for result in mine):,}",
            f"{sum(result.faults for result in mine):,}",
            f"{sum(result.simulated_ms for result in mine) / 60_000:,.1f} min",
            f"{sum(result.cpu_ms for result in mine) / 1_000:.1f} s",
            f"[red]{bad}[/]" if bad else "[green]0[/]",
        )
    out.print(table)
    if not data["failures"]:
        out.print(f"[green]Every call passed[/], in {data['cpu_s']} s of CPU time.")
    for failure in data["failures"][:FAILURES_SHOWN]:
        out.print(f"\n[red]call {failure['call']}[/] ({failure['profile']})")
        for complaint in failure["complaints"]:
            out.print(f"  {complaint}", highlight=False, markup=False)
        out.print(f"  again:   {failure['again']}", highlight=False, markup=False, soft_wrap=True)
        out.print(f"  journal: {failure['journal']}", highlight=False, markup=False, soft_wrap=True)
    if len(data["failures"]) > FAILURES_SHOWN:
        out.print(f"\nand {len(data['failures']) - FAILURES_SHOWN} more; --json lists them all")
    if written:
        out.print("Show a journal with `duologue replay FILE` or `duologue timeline FILE`.", style="dim")
    if not data["failures"]:
        for path in written.values():
            out.print(f"journal: {path}", highlight=False, markup=False, soft_wrap=True)
