"""`duologue listen`: what an agent hears and decides in a recording, and why.

One recording is shown on a timeline. For a set of recordings, the decisions are written to a file. Rule: the agent
hears frame by frame, in simulated time that includes the real computing time of its models.
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.core.settings import PROFILES, profile
from duologue.turns.endpoint import policy

from .json_output import JsonOption
from .terminal_style import BLUE, GREEN, RED, write_ms

if TYPE_CHECKING:
    from duologue.lab.recordings.listener import Decision, Listener, ListenResult

_BARS = " ▁▂▃▄▅▆▇█"
_LOUDEST_DB, _QUIETEST_DB = -10.0, -60.0
_MARKS = {
    "end_of_turn": ("▼", GREEN, "end of turn"),
    "hold": ("‖", BLUE, "playback held"),
    "barge_in": ("■", RED, "barge-in"),
    "resume": ("▶", BLUE, "playback goes on"),
    "noise": ("·", "dim", "only a noise"),
}


def listen_command(
    file: Annotated[Path | None, typer.Argument(help="A WAV or FLAC recording of the user.")] = None,
    agent: Annotated[Path | None, typer.Option(help="A recording of what the agent played at the same time.")] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Process a set of recordings: a file with one JSON object per line.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="With --labels: write the decisions to this file.")] = None,
    endpoint: Annotated[
        str,
        typer.Option(
            "--policy",
            help="The endpointing policy: combined, semantic, vad, easyturn, easyturn-003 or manual.",
        ),
    ] = "combined",
    eagerness: Annotated[
        int | None, typer.Option(help="Aim at this mean wait after a turn, 600 to 1010 ms, instead of the default.")
    ] = None,
    overlap: Annotated[
        str, typer.Option("--profile", help="The barge-in profile: confirm, words or immediate.")
    ] = "confirm",
    model: Annotated[str, typer.Option(help="The STT model: tiny or base.")] = "tiny",
    final_model: Annotated[
        str, typer.Option(help="The STT model for final texts: tiny, doubt, base or auto.")
    ] = "doubt",
    record: Annotated[
        Path | None, typer.Option(help="Record each conversation in this folder, for `duologue tune` and `replay`.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what an agent hears in a recording, and when and why it ends turns and yields to barge-in."""
    if (file is None) == (labels is None):
        raise DuologueError("name one recording, or use --labels FILE for a set of recordings")
    if labels is not None and out is None and record is None:
        raise DuologueError("--labels also needs --out FILE (where decisions are written) or --record FOLDER")
    if record is not None and record.exists() and not record.is_dir():
        raise DuologueError(f"{record}: not a folder")
    listener = make_listener(endpoint, eagerness, overlap, model, final_model)
    if labels is not None:
        _decide(listener, labels, out, record)
    elif file is not None:
        _show(listener, file, agent, as_json, record)


def make_listener(
    endpoint: str, eagerness: int | None, overlap: str, model: str, final_model: str = "doubt"
) -> Listener:
    """A listener with local models. Raises `DuologueError` for an unknown policy, profile or model, or if a package is
    missing."""
    if overlap not in PROFILES:
        raise DuologueError(f"unknown profile {overlap!r}: use one of {', '.join(PROFILES)}")
    if model not in ("tiny", "base"):
        raise DuologueError(f"unknown STT model {model!r}: use tiny or base")
    try:
        rule = policy(endpoint, eagerness)
    except ValueError as unknown:
        raise DuologueError(str(unknown)) from None
    try:
        from duologue.ears.final_model import CHOICES
        from duologue.ears.local import LocalEars
        from duologue.ears.moonshine import Moonshine
        from duologue.lab.recordings.listener import Listener
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    choice = next((one for one in CHOICES if one == final_model), None)
    if choice is None:
        raise DuologueError(f"unknown STT model for final texts {final_model!r}: use one of {', '.join(CHOICES)}")
    ears = LocalEars(Moonshine("base" if model == "base" else "tiny"), final_model=choice)
    ears.load()
    return Listener(ears, rule, profile(overlap))


# -- A set of recordings


def _decide(listener: Listener, labels: Path, out: Path | None, record: Path | None) -> None:
    from duologue.audio.frames import UnusableAudio
    from duologue.lab.recordings.recording_sets import decide, read_rows

    rows = read_rows(labels)
    columns = (TextColumn("listening"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("listening", total=len(rows))
        try:
            with out.open("w", encoding="utf-8") if out is not None else nullcontext() as file:
                for line in decide(listener, rows, lambda: progress.advance(task), record):
                    if file is not None:
                        file.write(json.dumps(line) + "\n")
        except OSError as problem:
            raise DuologueError(f"{problem.filename or out}: {problem.strerror}") from None
        except UnusableAudio as problem:
            raise DuologueError(str(problem)) from None
    if out is not None:
        sys.stderr.write(f"decisions for {len(rows)} recordings: {out}\n")
    if record is not None:
        sys.stderr.write(f"journals of {len(rows)} recordings: {record}\n")


# -- One recording


def _show(listener: Listener, file: Path, agent: Path | None, as_json: bool, record: Path | None) -> None:
    from duologue.audio.frames import UnusableAudio
    from duologue.lab.recordings.recording_sets import journal_of, listen_to

    try:
        result = listen_to(listener, file, agent, journal_of(record, file.stem) if record is not None else None)
    except UnusableAudio as problem:
        raise DuologueError(str(problem)) from None
    if as_json:
        sys.stdout.write(json.dumps(_facts(file, result), indent=2, ensure_ascii=False) + "\n")
    else:
        console = Console()
        console.print(Text(f"{file}  {write_ms(result.duration_ms)}", "bold"), soft_wrap=True)
        console.print(_picture(result, console.width))


def _facts(file: Path, result: ListenResult) -> dict[str, object]:
    return {
        "file": str(file),
        "duration_ms": result.duration_ms,
        "turns": [{"turn": said.turn, "text": said.text} for said in result.turns],
        "decisions": [
            {"t_ms": made.t_ms, "kind": made.kind, "reasons": list(made.reasons), "confidence": made.confidence}
            for made in result.decisions
        ],
        "words": [{"t_ms": said.t_ms, "turn": said.turn, "text": said.text} for said in result.words],
    }


def _picture(result: ListenResult, width: int) -> Group:
    width = max(20, min(width - 2, 110))
    total_ms = max(result.duration_ms, *(made.t_ms for made in result.decisions), 1)
    facts = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for made in result.decisions:
        mark, colour, name = _MARKS[made.kind]
        sure = "" if made.confidence is None else f"{made.confidence:.0%}"
        facts.add_row(
            Text(write_ms(made.t_ms), justify="right"),
            Text(f"{mark} {name}", colour),
            sure,
            Text(", ".join(made.reasons), "dim"),
        )
    said = [Text(f"turn {item.turn}  {item.text}") for item in result.turns] or [Text("no words", "dim")]
    return Group(
        Text(_levels(result.levels_db, width, result.duration_ms / total_ms)),
        _marks(result.decisions, width, total_ms),
        *said,
        Text(),
        facts,
    )


def _levels(levels_db: tuple[float, ...], width: int, share: float) -> str:
    """A line of bars that shows how loud the audio is. Each bar stands for one column, and shows the loudest level in
    it. `share` is how much of `width` the line fills, from 0 to 1."""
    columns = max(1, round(width * share))
    line = ""
    for at in range(columns):
        part = levels_db[
            at * len(levels_db) // columns : max(
                (at + 1) * len(levels_db) // columns, at * len(levels_db) // columns + 1
            )
        ]
        loud = (max(part, default=_QUIETEST_DB) - _QUIETEST_DB) / (_LOUDEST_DB - _QUIETEST_DB)
        line += _BARS[min(max(round(loud * (len(_BARS) - 1)), 0), len(_BARS) - 1)]
    return line


def _marks(decisions: tuple[Decision, ...], width: int, total_ms: int) -> Text:
    signs: dict[int, tuple[str, str]] = {}
    for made in decisions:
        mark, colour, _ = _MARKS[made.kind]
        signs[min(made.t_ms * width // total_ms, width - 1)] = (mark, colour)
    line = Text()
    for at in range(width):
        line.append(*signs.get(at, (" ", "")))
    return line
