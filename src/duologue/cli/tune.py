"""`duologue tune`: makes the decisions in recorded calls again with other settings, and recommends a setting.

Rule: a call that doesn't replay exactly isn't used, and the output names it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from duologue.core.errors import DuologueError

from .json_output import JsonOption, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from duologue.lab.tune.calls import RecordedCall, UnusableCall
    from duologue.lab.tune.changes import ChangedPause
    from duologue.lab.tune.frontier import OverlapPoint, PolicyPoint
    from duologue.lab.tune.page import TunedCalls
    from duologue.lab.tune.pauses import DecidedCall

_OUT = Console()
_ERR = Console(stderr=True)
_UNUSABLE_SHOWN = 10


def tune_command(
    folder: Annotated[Path | None, typer.Argument(help="A folder with recorded calls and their ear journals.")] = None,
    simulate: Annotated[int, typer.Option(help="Play this many simulated calls instead.", min=0)] = 0,
    policy: Annotated[
        list[str] | None, typer.Option(help="Compare this setting too, such as 'silence 650'. May be repeated.")
    ] = None,
    cut_in_ms: Annotated[int, typer.Option(help="A cut-in counts as this many ms of waiting.", min=0)] = 2_000,
    seed: Annotated[int, typer.Option(help="The seed of the simulated calls and of the random samples.")] = 1,
    html: Annotated[Path | None, typer.Option(help="Write a page with the picture and every change.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Write the picture alone, as SVG.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the decisions in recorded calls again with other settings, and show which cut-ins, waits and interruptions
    would have been different. Calls are recorded by `duologue serve --journals FOLDER` and `duologue listen --record
    FOLDER`."""
    from duologue.lab.tune.page import page
    from duologue.lab.tune.picture import picture_file

    calls, unusable = _calls(folder, simulate, seed)
    tuned = _tune(calls, len(unusable), policy or [], seed, cut_in_ms)
    found = tuned.comparison.recommended
    _write(html, lambda: page(tuned))
    _write(picture, lambda: picture_file(tuned.comparison.points, found.point if found is not None else None))
    if as_json:
        write_json(_facts(tuned, unusable))
        return
    _show(tuned, unusable)
    for path in (html, picture):
        if path is not None:
            _OUT.print(f"Written: {path}", highlight=False, soft_wrap=True)


# -- Calls


def _calls(folder: Path | None, simulate: int, seed: int) -> tuple[list[RecordedCall], list[UnusableCall]]:
    from duologue.lab.tune.calls import RecordedCall, UnusableCall, find_calls

    if (folder is None) == (simulate == 0):
        raise DuologueError("name a folder with recorded calls, or use --simulate N")
    with tempfile.TemporaryDirectory(prefix="duologue-tune-") as made:
        if folder is None:
            _simulate(Path(made), simulate, seed)
        elif not folder.is_dir():
            raise DuologueError(f"{folder}: there is no such folder")
        found = list(track(find_calls(folder or Path(made)), "reading", console=_ERR, transient=True))
    calls = [call for call in found if isinstance(call, RecordedCall)]
    unusable = [call for call in found if isinstance(call, UnusableCall)]
    if not calls and not unusable:
        raise DuologueError(
            f"{folder}: there are no recorded calls. `duologue serve --journals FOLDER` and"
            " `duologue listen --record FOLDER` record them"
        )
    if not calls:
        first = unusable[0]
        raise DuologueError(f"{folder}: none of {len(unusable)} calls can be used. {first.name}: {first.why}")
    return calls, unusable


def _simulate(folder: Path, calls: int, seed: int) -> None:
    from duologue.lab.sim.population import play_call

    for number in track(range(1, calls + 1), "calling", console=_ERR, transient=True):
        play_call(seed, number, faults=False, journal=folder / f"call-{number:04}.jsonl")


def _tune(calls: Sequence[RecordedCall], unusable: int, more: list[str], seed: int, cut_in_ms: int) -> TunedCalls:
    from duologue.lab.tune.changes import changes
    from duologue.lab.tune.frontier import compare, compare_overlaps
    from duologue.lab.tune.page import TunedCalls
    from duologue.lab.tune.policies import RECORDED, endpoint_settings, overlap_settings, setting

    has_sound = any(call.has_sound for call in calls)
    for name in more:
        setting(name, calls[0].policy)  # a wrong name is refused before the work begins
    endings = list(
        dict.fromkeys([*endpoint_settings(has_sound), *(one for one in more if one not in overlap_settings())])
    )
    decided: dict[str, list[DecidedCall]] = {}
    for name in track(
        {**dict.fromkeys(endings), **dict.fromkeys(overlap_settings())}, "deciding", console=_ERR, transient=True
    ):
        decided[name] = [call.decide(name) for call in calls]
    comparison = compare({name: decided[name] for name in endings}, seed, cut_in_ms)
    best = comparison.recommended.point.name if comparison.recommended is not None else RECORDED
    names, other = [call.name for call in calls], ""
    changed = changes(names, decided[RECORDED], decided[best])
    if best == RECORDED and comparison.recommended is not None:
        other, changed = _next_best(comparison.points, lambda name: changes(names, decided[RECORDED], decided[name]))
    overlaps = compare_overlaps({name: decided[name] for name in overlap_settings()})
    return TunedCalls(comparison, overlaps, changed, len(calls), unusable, cut_in_ms, other)


def _next_best(
    points: Sequence[PolicyPoint], changed_with: Callable[[str], list[ChangedPause]]
) -> tuple[str, list[ChangedPause]]:
    """Among the settings that decide at least one pause differently: the name of the cheapest one, and these pauses. An
    empty name and an empty list if there is no such setting."""
    for point in sorted(points, key=lambda one: one.cost_ms):
        if point.is_known and (changed := changed_with(point.name)):
            return point.name, changed
    return "", []


# -- Output


def _write(path: Path | None, make: Any) -> None:
    if path is None:
        return
    try:
        path.write_text(make(), encoding="utf-8")
    except OSError as problem:
        raise DuologueError(f"{path}: {problem.strerror}") from None


def _facts(tuned: TunedCalls, unusable: list[UnusableCall]) -> dict[str, Any]:
    from duologue.lab.tune.page import UNKNOWN, verdict

    found = tuned.comparison.recommended
    return {
        "calls": tuned.calls,
        "unusable": [{"call": one.name, "why": one.why} for one in unusable],
        "settings": [{**point._asdict(), "known": point.is_known} for point in tuned.comparison.points],
        "overlaps": [point._asdict() for point in tuned.overlaps],
        "recommended": None
        if found is None
        else {
            "setting": found.point.name,
            "clear": found.is_clear,
            "saved_ms": found.saved_ms,
            "saved_range": found.saved_range,
        },
        "verdict": verdict(found, tuned.cut_in_ms),
        "cut_in_ms": tuned.cut_in_ms,
        "changed": [one.to_json() for one in tuned.changed],
        "changed_with": tuned.other or (found.point.name if found is not None else None),
        "unknown": UNKNOWN,
    }


def _show(tuned: TunedCalls, unusable: list[UnusableCall]) -> None:
    from duologue.lab.tune.page import UNKNOWN, verdict

    for one in unusable[:_UNUSABLE_SHOWN]:
        _OUT.print(f"[yellow]not used:[/] {one.name}: {one.why}", highlight=False, markup=True, soft_wrap=True)
    if len(unusable) > _UNUSABLE_SHOWN:
        _OUT.print(f"[yellow]not used:[/] {len(unusable) - _UNUSABLE_SHOWN} more", highlight=False)
    found = tuned.comparison.recommended
    _OUT.print(_ends(tuned.comparison.points, found.point if found is not None else None, tuned.calls))
    _OUT.print(_overlaps(tuned.overlaps))
    _OUT.print(verdict(found, tuned.cut_in_ms), highlight=False, style="bold")
    if found is not None and tuned.changed:
        many = len({one.call for one in tuned.changed})
        name = tuned.other or found.point.name
        where = f"{len(tuned.changed)} pauses in {many} calls would be decided differently with {name!r}"
        _OUT.print(f"{where}; --html FILE shows them.", highlight=False)
    _OUT.print(f"[dim]{UNKNOWN}[/]", highlight=False)


def _ends(points: Sequence[PolicyPoint], best: PolicyPoint | None, calls: int) -> Table:
    """The table of settings, for a terminal of 80 columns. The column for turns whose end is unknown is left out if
    there are no such turns."""
    has_unknown = any(point.unknown for point in points)
    title = f"when a turn ends, {calls} calls, {max((point.pauses for point in points), default=0)} pauses"
    table = Table(title=title, title_justify="left")
    table.add_column("setting", no_wrap=True)
    for name in ("cut-ins", "mean wait", "95 %", *(("unknown",) if has_unknown else ()), "cost"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in sorted(points, key=lambda one: (not one.is_known, one.cost_ms)):
        table.add_row(
            point.name,
            f"{point.cut_ins} ({point.cut_in_pct:.0f} %)",
            f"{point.wait_ms:.0f} ms",
            f"{point.wait_ms_p95} ms",
            *((str(point.unknown),) if has_unknown else ()),
            f"{point.cost_ms:.0f} ms" if point.is_known else "",
            style="bold green" if point is best else "",
        )
    return table


def _overlaps(points: Sequence[OverlapPoint]) -> Table:
    table = Table("setting", title="what interrupts the agent", title_justify="left")
    for name in ("sounds", "stop it", "don't", "unknown", "mean verdict", "differ"):
        table.add_column(name, justify="right")
    for point in points:
        verdict = "" if point.verdict_ms is None else f"{point.verdict_ms:.0f} ms"
        numbers = (point.sounds, point.stops, point.goes_on, point.unknown)
        table.add_row(point.name, *map(str, numbers), verdict, str(point.changed))
    return table
