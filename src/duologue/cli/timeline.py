"""`duologue timeline`: a call over time, in the terminal or as one HTML file.

If the words file is next to the journal, the timeline also shows what was said. Rule: an incomplete journal is shown up
to its last event, with a note on standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.core.events import PlaybackFinished
from duologue.core.views import PHASE, View
from duologue.observe.stereo_file import StereoSound, read_stereo
from duologue.replay.journal import StepRecord, read_journal, replay
from duologue.replay.step_words import describe
from duologue.replay.timeline import read_timeline
from duologue.replay.words_file import Spoken, read_words, words_path

from .debug_view import debug_view
from .json_output import JsonOption, write_json
from .lanes import LABEL_WIDTH, bar_width
from .terminal_output import Legible
from .terminal_style import BLUE, GREEN
from .view_option import ViewOption, view_named

AUDIO_BYTES_MAX = 200 << 20
_INDENT = 2
_HAPPENED_WIDTH = 30
_BUSY = ((16, "█"), (8, "▓"), (4, "▒"), (2, "░"), (1, "·"), (0, " "))  # for this many events or more


def timeline_command(
    file: Annotated[Path, typer.Argument(help="The journal of a call.")],
    html: Annotated[Path | None, typer.Option(help="Write an HTML page to this file instead of text.")] = None,
    audio: Annotated[
        Path | None,
        typer.Option(help="With --html: the recording of the call. Default: CALL.wav or CALL.opus next to CALL.jsonl."),
    ] = None,
    as_json: JsonOption = False,
    with_words: Annotated[
        bool,
        typer.Option("--words/--no-words", help="Show what was said, if CALL.words.jsonl is next to CALL.jsonl."),
    ] = True,
    view: ViewOption = PHASE.name,
) -> None:
    """Show a call over time: the state of each region, what was heard, what happened and why."""
    if html and as_json:
        raise DuologueError("use either --html or --json, not both")
    seen = view_named(view)
    records, complete = _read_moments(file)
    words = _read_words(file) if with_words and not as_json else ()
    if not complete:
        sys.stderr.write(f"{file}: cut off after {len(records)} events, or the call is still running\n")
    if html:
        _write_picture(html, file, records, words, complete, _read_sound(file, audio), seen)
    elif as_json:
        facts = {"file": str(file), "events": len(records), "complete": complete}
        write_json({**facts, **read_timeline(records, seen).to_json()})
    else:
        _show(records, words, seen)


# -- Reading and writing


def _read_moments(file: Path) -> tuple[list[StepRecord], bool]:
    try:
        with file.open(encoding="utf-8") as lines:
            journal = read_journal(lines, complete=False)
        return list(replay(journal)), journal.complete
    except OSError as error:
        raise DuologueError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DuologueError(f"{file}: not a text file") from None
    except DuologueError as error:
        raise DuologueError(f"{file}: {error}") from None


def _read_words(journal: Path) -> tuple[Spoken, ...]:
    path = words_path(journal)
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:  # a crash may leave half a character at the end
            return read_words(lines, complete=False)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise DuologueError(f"{path}: {error.strerror}") from None
    except DuologueError as error:
        raise DuologueError(f"{path}: {error} (use --no-words to ignore this file)") from None


def _read_sound(journal: Path, audio: Path | None) -> StereoSound | None:
    beside = [path for suffix in (".wav", ".opus") if (path := journal.with_suffix(suffix)).exists()]
    if audio is None and not beside:
        return None
    path = audio or beside[0]
    try:
        if path.stat().st_size > AUDIO_BYTES_MAX:
            raise DuologueError(f"{path}: larger than {AUDIO_BYTES_MAX >> 20} MiB, too much for a page")
        return read_stereo(path)
    except OSError as error:
        raise DuologueError(f"{path}: {error.strerror}") from None
    except ValueError as problem:
        raise DuologueError(f"{path}: {problem}") from None


def _write_picture(
    target: Path,
    journal: Path,
    records: Sequence[StepRecord],
    words: Sequence[Spoken],
    complete: bool,
    sound: StereoSound | None,
    view: View,
) -> None:
    from duologue.replay.picture import draw_picture

    if target.resolve() in (journal.resolve(), words_path(journal).resolve()):
        raise DuologueError(f"{target}: this would overwrite the call's own file; choose another name for --html")
    try:
        page = draw_picture(records, journal.name, words, complete, sound, view)
        target.write_text(page, encoding="utf-8", errors="replace")
    except OSError as error:
        raise DuologueError(f"{target}: {error.strerror}") from None
    sys.stdout.write(f"{target}\n")


# -- The terminal


def _show(records: Sequence[StepRecord], words: Sequence[Spoken], view: View) -> None:
    """Print the steps first and the overview last, so that the overview stays visible."""
    from duologue.replay.picture.spans import newest

    console = Console()
    steps = newest(records)
    if steps:
        console.print(Legible(_titled("What happened", "", _story(steps, words))))
        console.print()
    console.print(debug_view(read_timeline(records, view)))
    if steps:
        console.print(Legible(_events(steps, console.width - 2 * _INDENT)))
        console.print(Legible(_heard(steps)))


def _titled(title: str, note: str, *content: RenderableType) -> RenderableType:
    heading = Text.assemble((title, "bold"), (f"  {note}", "dim"), no_wrap=True)
    return Padding(Group(heading, *content), (1, _INDENT, 0, _INDENT))


def _story(steps: Sequence[StepRecord], words: Sequence[Spoken]) -> RenderableType:
    """A table of the steps for which `describe` returns a text, one line for each, with what was said between these
    lines."""
    began = steps[0].event.at
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(justify="right", style="dim", width=8)
    grid.add_column(width=_HAPPENED_WIDTH)
    grid.add_column(style="dim", width=1)
    grid.add_column(ratio=1)
    said = [spoken for spoken in words if spoken.at >= began]
    to_say = sorted(said, key=lambda spoken: spoken.at, reverse=True)
    for record in steps:
        event = record.event
        if line := describe(record):
            heard = (f"{event.heard_ms} ms heard",) if isinstance(event, PlaybackFinished) else ()
            done = Text(", ".join((*line.done, *heard)), style="bold")
            grid.add_row(_seconds(event.at - began), line.happened, "→" if done else "", done)
        while to_say and (to_say[-1].at <= event.at or record is steps[-1]):
            spoken = to_say.pop()
            grid.add_row("", "", "", _quote(spoken))
    return grid


def _quote(spoken: Spoken) -> RenderableType:
    who, colour = ("person", GREEN) if spoken.kind == "user" else ("agent", BLUE)
    text = Text.assemble((f"{who}: ", colour), spoken.text)
    if spoken.unheard:
        text.append(" " if spoken.text else "")
        text.append_text(Text.assemble(("(unheard: ", "dim"), (spoken.unheard, "dim strike"), (")", "dim")))
    return text


def _events(steps: Sequence[StepRecord], width: int) -> RenderableType:
    """A line of marks under the bars of the regions. Each mark stands for one column, and shows roughly how many events
    fall into it."""
    columns = bar_width(width)
    began, length_ms = steps[0].event.at, max(1, steps[-1].event.at - steps[0].event.at)
    counts = [0] * columns
    for record in steps:
        counts[min(columns - 1, (record.event.at - began) * columns // length_ms)] += 1
    marks = "".join(next(mark for least, mark in _BUSY if count >= least) for count in counts)
    legend = "  ".join(f"{mark} {least} or more" for least, mark in reversed(_BUSY) if least)
    ignored = sum(record.after is record.before for record in steps)
    return _titled(
        "Events",
        f"{len(steps)} in all, {ignored} ignored",
        Text(" " * LABEL_WIDTH + marks, no_wrap=True),
        Text(" " * LABEL_WIDTH + legend, style="dim", no_wrap=True),
    )


def _heard(steps: Sequence[StepRecord]) -> RenderableType:
    """How much of the agent's audio was heard, and which of its sounds were cut short."""
    from duologue.replay.picture.spans import CUT, read_spans

    sounds = read_spans(steps).sounds
    cut = [sound for sound in sounds if sound.outcome == CUT]
    lines = [
        Text.assemble(
            (f"{_seconds(sound.end_ms):>8}  ", "dim"),
            f"voice {sound.voice}: {sound.heard_ms} ms heard",
            (f"  {sound.cut_by}", "dim"),
            no_wrap=True,
        )
        for sound in cut
    ]
    total = _seconds(sum(sound.heard_ms for sound in sounds))
    return _titled("Heard", f"{total} of {len(sounds)} sounds, {len(cut)} cut short", *lines)


def _seconds(ms: int) -> str:
    return f"{ms / 1_000:.2f} s"
