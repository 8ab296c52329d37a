"""`duologue simulate`: calls on the simulated clock, from scenario files or with seeded random callers.

Rule: the command prints one table of all calls, then the details and the journal of each failure. The exit code is 1 if
a call failed and 2 if a scenario file is invalid.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from duologue.core.errors import DuologueError

from .json_output import JsonOption, write_json
from .terminal_output import Legible
from .terminal_style import AMBER, GREEN, RED, write_ms

if TYPE_CHECKING:
    from duologue.runtime.agent_source import AgentOrMaker
    from duologue.testing.scenario import ScenarioProblem, ScenarioResult

_COLOURS = {"passed": GREEN, "failed": RED, "invalid": AMBER}


class ScenarioOutcome(NamedTuple):
    """The outcome of one scenario file: the result of its call, or the problems of an invalid file."""

    file: Path
    result: ScenarioResult | None
    problems: tuple[ScenarioProblem, ...] = ()

    @property
    def verdict(self) -> str:
        return "invalid" if self.result is None else "passed" if self.result.passed else "failed"

    def to_json(self) -> dict[str, Any]:
        result = self.result
        return {
            "file": str(self.file),
            "name": result.name if result else None,
            "result": self.verdict,
            "simulated_ms": result.simulated_ms if result else None,
            "real_ms": result.real_ms if result else None,
            "line": (result.line or None) if result else None,
            "message": (result.message or None) if result else None,
            "journal": str(result.journal) if result and result.journal else None,
            "problems": [{"line": problem.line or None, "problem": problem.text} for problem in self.problems],
        }


def simulate_command(
    scenario: Annotated[list[Path] | None, typer.Argument(help="Scenario files, or folders of them.")] = None,
    calls: Annotated[
        int | None, typer.Option(min=1, help="Play this many calls of random callers, instead of scenarios.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the random callers and faults.")] = 7,
    call: Annotated[int | None, typer.Option(min=1, help="Play only the call with this number.")] = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="Let services fail, and lose, delay and repeat messages.")
    ] = False,
    agent: Annotated[
        str, typer.Option(help="The agent that answers, as module:agent; without it, a built-in agent.")
    ] = "",
    journals: Annotated[
        Path | None,
        typer.Option(help="Write the journals of failed calls to this folder; without it, to a new folder."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play calls on a simulated clock: scenario files, or many random callers."""
    if scenario and (calls or call):
        raise DuologueError("use either scenario files or --calls, not both")
    if scenario:
        code = play_scenarios(scenario, as_json, journals)
    elif calls or call:
        from .population import play_population

        code = play_population(calls or 1, seed, faults, call, journals, as_json, _agent(agent), agent)
    else:
        raise DuologueError("nothing to play: name scenario files or a folder of them, or use --calls N")
    if code:
        raise typer.Exit(code)


def _agent(name: str) -> AgentOrMaker | None:
    from duologue.runtime.find_agent import find_agent_or_maker

    return find_agent_or_maker(name) if name else None


def play_scenarios(paths: Iterable[Path], as_json: bool, journals: Path | None = None) -> int:
    """Play these scenarios, show the results and return the exit code."""
    # What an agent prints goes to standard error, so that it doesn't mix with the results.
    with _folder(journals) as folder, contextlib.redirect_stdout(sys.stderr):
        outcomes = _play_all(list(dict.fromkeys(_files(paths))), folder)
    verdicts = [outcome.verdict for outcome in outcomes]
    if as_json:
        counts = {verdict: verdicts.count(verdict) for verdict in _COLOURS}
        data = {**counts, "scenarios": [outcome.to_json() for outcome in outcomes]}
        write_json(data)
    else:
        _show(outcomes)
    return 2 if "invalid" in verdicts else 1 if "failed" in verdicts else 0


# -- Playing


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the scenario files: each given file, and all scenarios in each given folder. A folder without scenarios is
    yielded itself, so that the command can report it."""
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else []
        yield from [each for each in inside if _is_scenario(each.relative_to(path))] or [path]


def _is_scenario(path: Path) -> bool:
    return path.suffix in (".yaml", ".yml") and not any(part.startswith(".") for part in path.parts)


@contextlib.contextmanager
def _folder(journals: Path | None) -> Iterator[Path]:
    """Provide the folder for journals: `journals` or, if that is None, a temporary folder, which is removed afterwards
    if it is still empty."""
    folder = journals or Path(tempfile.mkdtemp(prefix="duologue-journals-"))
    try:
        yield folder
    except OSError as error:
        raise DuologueError(f"{error.filename or folder}: {error.strerror}") from None
    finally:
        if journals is None and not any(folder.iterdir()):
            folder.rmdir()


def _play_all(files: list[Path], folder: Path) -> list[ScenarioOutcome]:
    from duologue.testing.scenario import InvalidScenario, ScenarioProblem, play

    outcomes: list[ScenarioOutcome] = []
    taken: set[str] = set()
    for file in files:
        if file.is_dir():
            outcomes.append(
                ScenarioOutcome(file, None, (ScenarioProblem(file, 0, "no scenario (*.yaml) in this folder"),))
            )
            continue
        stem = _free(file.stem, taken)
        try:
            outcomes.append(ScenarioOutcome(file, play(file, folder / f"{stem}.jsonl")))
        except InvalidScenario as invalid:
            outcomes.append(ScenarioOutcome(file, None, invalid.problems))
    return outcomes


def _free(stem: str, taken: set[str]) -> str:
    """Choose a file name that isn't in `taken` yet, and add it to `taken`. It is the stem, or the stem with a number:
    files in different folders may have the same stem."""
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


# -- Showing


def _show(outcomes: list[ScenarioOutcome]) -> None:
    console = Console()
    table = Table("scenario", "result", box=None, pad_edge=False, header_style="dim")
    table.add_column("simulated", justify="right")
    table.add_column("real", justify="right")
    for outcome in outcomes:
        result, verdict = outcome.result, outcome.verdict
        times = (write_ms(result.simulated_ms), write_ms(result.real_ms)) if result else ("", "")
        name = result.name if result else str(outcome.file)
        table.add_row(Text(name), Text(verdict, style=_COLOURS[verdict]), *times)
    console.print(Legible(table))
    for outcome in outcomes:
        for line in _details(outcome):
            console.print(line, soft_wrap=True)


def _details(outcome: ScenarioOutcome) -> Iterator[Text]:
    """The problems of a file, or how a scenario failed."""
    if outcome.problems:
        yield Text()
    for problem in outcome.problems:
        yield Text(str(problem))
    result = outcome.result
    if result is not None and not result.passed:
        yield Text(f"\n{result.message}")
        if result.journal is not None:
            yield Text(f"\nduologue timeline {result.journal}", style="dim")
