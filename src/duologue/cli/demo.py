"""The demo in a terminal: a scripted call scene by scene, its debug view, and its replay.

Rule: every claim that the demo makes about the call is checked before it is shown. If a claim doesn't hold, or the
journal doesn't replay, the demo ends with an error.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from duologue.core.views import PHASE, View
from duologue.lab.sim.demo_call import Scene, play_demo, stage_for_demo
from duologue.replay.journal import read_journal, replay
from duologue.replay.step_words import describe
from duologue.replay.timeline import read_timeline

from .debug_view import debug_view
from .terminal_output import Legible
from .terminal_style import BLUE, GREEN, write_ms

PAUSE_S = 0.6
_HAPPENED_WIDTH = 30


def run_demo(console: Console, journal_path: Path, fast: bool, view: View = PHASE) -> None:
    """Play the call, show it in this view, write its journal and replay the journal."""
    pause_s = PAUSE_S if console.is_terminal and not fast else 0.0
    stage = stage_for_demo()
    computing_s = 0.0
    for number, (scene, scene_s) in enumerate(_timed(play_demo(stage)), start=1):
        computing_s += scene_s
        console.print(Legible(_scene(number, scene)))
        if pause_s:
            time.sleep(pause_s)
    console.print(Legible(Padding(Rule("The whole call", style="dim"), (1, 0, 0, 0))))
    console.print(debug_view(read_timeline(stage.records, view)))
    with journal_path.open("w", encoding="utf-8") as out:
        stage.write_journal(out)
    console.print(Legible(_proof(journal_path, computing_s)))


def _timed(scenes: Iterator[Scene]) -> Iterator[tuple[Scene, float]]:
    """Yield each scene, and how many seconds the scene took to compute, without the time to show it."""
    while True:
        began = time.perf_counter()
        scene = next(scenes, None)
        if scene is None:
            return
        yield scene, time.perf_counter() - began


def _scene(number: int, scene: Scene) -> RenderableType:
    """One scene: its title, caption, events and checked claims."""
    title = Text.assemble((f"{number:>2}  ", "dim"), (scene.title, f"bold {BLUE}"))
    claims = Table.grid(padding=(0, 1))
    for claim in scene.claims:
        claims.add_row(Text("✓", style=f"bold {GREEN}"), Text(claim))
    body = Padding(Group(Text(scene.caption), _story(scene), claims), (0, 0, 0, 4))
    return Padding(Group(title, body), (1, 0, 0, 0))


def _story(scene: Scene) -> RenderableType:
    grid = Table.grid(padding=(0, 1), expand=True)  # expanded, so that only the last column shrinks
    grid.add_column(justify="right", style="dim", width=8)
    grid.add_column(width=_HAPPENED_WIDTH)
    grid.add_column(style="dim", width=1)
    grid.add_column(style="bold", ratio=1)
    for line in (line for record in scene.records if (line := describe(record))):
        arrow = "→" if line.done else ""
        grid.add_row(f"{line.at_ms / 1_000:.2f} s", line.happened, arrow, ", ".join(line.done))
    return grid


def _proof(journal_path: Path, computing_s: float) -> RenderableType:
    """Replay the journal and show the result. Raises an error at the first step whose digest (a hash of its result)
    differs from the recorded one."""
    began = time.perf_counter()
    with journal_path.open(encoding="utf-8") as lines:
        records = list(replay(read_journal(lines)))
    replay_s = time.perf_counter() - began
    call_ms = records[-1].event.at
    agree = Text.assemble(
        ("✓ ", f"bold {GREEN}"), (f"All {len(records)} digests agree", "bold"), ": the journal replays exactly."
    )
    took = Text(
        f"{write_ms(call_ms)} of conversation took {computing_s * 1_000:.0f} ms to compute"
        f" ({call_ms / 1_000 / computing_s:,.0f} times faster than real time), {replay_s * 1_000:.0f} ms to replay."
    )
    where = Text(f"Journal: {journal_path}", style="dim", overflow="fold")
    return Padding(Group(agree, Padding(Group(took, where), (0, 0, 0, 2))), (1, 2))
