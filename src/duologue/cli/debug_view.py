"""The debug view of a conversation: its states over time, how long each lasted, and what caused each change.

The view adapts to the width of the terminal and works without colour or Unicode. Rule: it shows only what a Timeline
contains.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from duologue.replay.timeline import Timeline, Visit

from .lanes import bar_width, draw_lanes
from .line_packing import pack
from .terminal_output import Legible
from .terminal_style import chip_style, colour_of, write_ms

VISITS_MAX = 100
_SIDE_BY_SIDE_MIN = 96
_INDENT = 2
_TIME_WIDTH = 10


def debug_view(timeline: Timeline) -> RenderableType:
    """The debug view of a timeline, to be printed on a console."""
    return Legible(DebugView(timeline))


class DebugView:
    """A renderable that adapts to the console that it is printed on."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        coloured = console.color_system is not None and not console.no_color
        yield from _parts(self.timeline, options.max_width, coloured)


def _parts(timeline: Timeline, width: int, coloured: bool) -> Iterator[RenderableType]:
    yield _header(timeline)
    if timeline.current is None:
        yield Padding(Text("No conversation has started yet.", style="dim"), (0, _INDENT))
        return
    room = width - 2 * _INDENT
    yield _titled("States", "each visit and how long it lasted", *_chips(timeline.visits, room, coloured))
    yield _titled("Regions", _scale(timeline, room), *draw_lanes(timeline, room))
    moves = _titled("Last transitions", "and what caused them", _moves(timeline))
    if width >= _SIDE_BY_SIDE_MIN:
        side_by_side = Table.grid(padding=(0, 2, 0, 0))
        side_by_side.add_row(_titled("Metrics", "", _metrics(timeline, blocks=1)), moves)
        yield side_by_side
    else:
        yield _titled("Metrics", "", _metrics(timeline, blocks=2))
        yield moves


def _titled(title: str, note: str, *content: RenderableType) -> RenderableType:
    heading = Text.assemble((title, "bold"), (f"  {note}", "dim"), no_wrap=True)
    return Padding(Group(heading, *content), (1, _INDENT, 0, _INDENT))


def _scale(timeline: Timeline, room: int) -> str:
    return f"a column is {write_ms(timeline.length_ms // bar_width(room))} and shows its most important state"


# -- Now and before


def _header(timeline: Timeline) -> RenderableType:
    grid = Table.grid(padding=(0, 2), expand=True)
    grid.add_column()
    grid.add_column(ratio=1)
    grid.add_column(justify="right")
    grid.add_column(justify="right")
    grid.add_row("now", _stay(timeline.current), "session", Text(write_ms(timeline.session_ms), style="bold"))
    grid.add_row("before", _stay(timeline.previous), "turns", Text(str(timeline.turns), style="bold"))
    return Panel(grid, title=f"conversation, seen as {timeline.view}", title_align="left", box=box.ROUNDED)


def _stay(visit: Visit | None) -> Text:
    """The name of a state, and how long the state lasted. Because of the name, the view can be read without colour."""
    if visit is None:
        return Text("nothing", style="dim")
    return Text.assemble((visit.state, f"bold {colour_of(visit.state)}"), f" for {write_ms(visit.duration_ms)}")


# -- The states, one chip for each visit


def _chips(visits: tuple[Visit, ...], width: int, coloured: bool) -> Iterator[Text]:
    """The chips: one coloured label for each visit to a state, in lines that start with the time of their first chip.
    If there are more than VISITS_MAX visits, only the newest get chips, and the first line says how many were left
    out."""
    first = max(0, len(visits) - VISITS_MAX)
    if first:
        yield Text(f"{'…':>8}  {first} earlier", style="dim")
    chips = [_chip(visit, coloured, last=visit is visits[-1]) for visit in visits[first:]]
    for line in pack(chips, width - _TIME_WIDTH, gap=1):
        yield Text.assemble((f"{visits[first].since_ms / 1_000:>6.1f} s  ", "dim"), *line, no_wrap=True)
        first += len(line)


def _chip(visit: Visit, coloured: bool, last: bool) -> Text:
    name, duration = visit.state, write_ms(visit.duration_ms)
    if not coloured:
        return Text.assemble((name, "bold"), f" {duration}", " " if last else " → ")
    style = chip_style(name)
    return Text.assemble((f" {name} ", f"bold {style}"), (f"{duration} ", style), " ")


# -- The numbers and the moves


def _metrics(timeline: Timeline, blocks: int) -> RenderableType:
    """Metrics as names and numbers, in one or two columns."""
    m = timeline.metrics
    entries = (
        ("first token", _mean(m.first_token_ms)),
        ("first audio", _mean(m.first_audio_ms)),
        ("requests", str(m.requests)),
        ("interrupted", _share(m.interrupted, m.sounds, m.interruption_rate)),
        ("overheard", str(m.overheard)),
        ("tool calls", str(m.calls)),
        ("succeeded", _share(m.calls_done, m.calls_done + m.calls_failed, m.call_success_rate)),
        ("errors", str(m.errors)),
        ("check-ins", str(m.check_ins)),
        ("turns lost", str(m.turns_lost)),
    )
    grid = Table.grid(padding=(0, 3, 0, 0))
    for _ in range(blocks):
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(no_wrap=True)
    rows = len(entries) // blocks
    for number in range(rows):
        grid.add_row(*(cell for entry in entries[number::rows] for cell in entry))
    return grid


def _mean(ms: int | None) -> str:
    return "none yet" if ms is None else f"{write_ms(ms)} mean"


def _share(part: int, whole: int, rate: float | None) -> str:
    return "none yet" if rate is None else f"{part} of {whole}, {rate:.0%}"


def _moves(timeline: Timeline) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", style="dim", no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(style="dim", no_wrap=True, overflow="ellipsis")
    for move in timeline.transitions:
        states = Text.assemble((move.source, colour_of(move.source)), " → ", (move.target, colour_of(move.target)))
        grid.add_row(f"{move.at_ms / 1_000:.1f} s", states, move.cause)
    return grid
