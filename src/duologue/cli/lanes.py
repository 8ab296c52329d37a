"""The regions of a conversation as bars over one time axis, as wide as the terminal.

Rule: a column shows the most important state that occurs in it, even if that state is short, because a failure often
lasts only 50 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from rich.text import Text

from duologue.replay.timeline import Timeline, TimelineLane, Visit

from .line_packing import pack
from .terminal_style import LOOKS, look_of

LABEL_WIDTH = 7
_STEPS_S = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200)
_TICK_COLUMNS_MIN = 9


def columns(visits: tuple[Visit, ...], length_ms: int, width: int, rank: Callable[[str], int]) -> list[str]:
    """The state to show in each column: of the states that occur in the column, the one with the highest rank. If
    several have this rank, it is the one that lasts longest there."""
    shown = []
    first = 0
    for column in range(width):
        start, end = column * length_ms / width, (column + 1) * length_ms / width
        while first < len(visits) - 1 and visits[first].end_ms <= start:
            first += 1
        best = visits[first]
        most = (-1, 0.0)
        for visit in visits[first:]:
            if visit.since_ms >= end:
                break
            overlap_ms = min(visit.end_ms, end) - max(visit.since_ms, start)
            if (rank(visit.state), overlap_ms) > most:
                best, most = visit, (rank(visit.state), overlap_ms)
        shown.append(best.state)
    return shown


def bar_width(width: int) -> int:
    """How many of `width` columns a bar gets, after its label. At least 10."""
    return max(10, width - LABEL_WIDTH)


def draw_lanes(timeline: Timeline, width: int) -> Iterator[Text]:
    """A bar for each region, the time axis, and a legend of the marks."""
    room = bar_width(width)
    shown = {lane.region: _shown(lane, timeline.length_ms, room) for lane in timeline.lanes}
    for region, leaves in shown.items():
        yield _bar(region, leaves)
    yield _axis(timeline.length_ms, room)
    for region, leaves in shown.items():
        yield from _legend(region, leaves, room)


def _shown(lane: TimelineLane, length_ms: int, width: int) -> list[str]:
    """The leaf state to show in each column. If several jobs run in parallel, only the first of them is shown."""
    states = columns(lane.visits, length_ms, width, lambda state: look_of(lane.region, state).rank)
    return [state.partition("+")[0] for state in states]


def _bar(region: str, leaves: list[str]) -> Text:
    text = Text(region.ljust(LABEL_WIDTH), style="bold", no_wrap=True)
    for leaf, run in groupby(leaves):
        look = look_of(region, leaf)
        text.append(look.mark * len(list(run)), style=f"not bold {look.colour}")
    return text


def _legend(region: str, leaves: list[str], width: int) -> Iterator[Text]:
    """The marks in the bar, each with the name of the leaf state that it stands for."""
    entries = [
        Text.assemble((look.mark, look.colour), (f" {leaf.replace('_', ' ')}", "dim"), "  ")
        for leaf, look in LOOKS[region].items()
        if leaf in leaves
    ]
    for number, line in enumerate(pack(entries, width, gap=2)):
        label = "" if number else region
        yield Text.assemble((label.ljust(LABEL_WIDTH), "dim"), *line, no_wrap=True)


def _axis(length_ms: int, width: int) -> Text:
    """The time axis. Its labels are a round number of seconds apart, and far enough apart not to touch."""
    wide_enough = [step for step in _STEPS_S if step * 1_000 * width >= _TICK_COLUMNS_MIN * length_ms]
    step_ms = 1_000 * (wide_enough[0] if wide_enough else -(-length_ms // 1_000))
    line = [" "] * width
    for at_ms in range(0, length_ms + 1, step_ms):
        column = at_ms * width // length_ms
        label = f"╵{at_ms // 1_000} s"
        if column + len(label) <= width:
            line[column : column + len(label)] = label
    return Text(" " * LABEL_WIDTH + "".join(line), style="dim", no_wrap=True)
