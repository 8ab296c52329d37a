"""`duologue replay`: replays a journal exactly, or shows the first difference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from duologue.core.errors import DuologueError
from duologue.replay.journal import read_journal, replay

from .json_output import JsonOption, write_json

_OUT = Console()


def replay_command(
    file: Annotated[Path, typer.Argument(help="The journal of a call.")], as_json: JsonOption = False
) -> None:
    """Replay a journal exactly, or show the first difference."""
    from duologue.replay.timeline import read_timeline

    from .debug_view import debug_view

    try:
        with file.open(encoding="utf-8") as lines:
            records = list(replay(read_journal(lines)))
    except OSError as error:
        raise DuologueError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DuologueError(f"{file}: not a text file") from None
    except DuologueError as error:
        raise DuologueError(f"{file}: {error}") from None
    timeline = read_timeline(records)
    if as_json:
        write_json({"file": str(file), "events": len(records), "agrees": True, **timeline.to_json()})
        return
    _OUT.print(debug_view(timeline))
    _OUT.print(f"[bold green]{len(records)} events, every digest agrees.[/]")
