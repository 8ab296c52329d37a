"""`duologue bench`: what things cost on this machine, held to their budgets.

Rule: a number is measured here and now; none is remembered.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from duologue.core.errors import DuologueError

bench_app = typer.Typer(help="Measure, side by side with others.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Write one JSON object instead of a table.")]


@bench_app.command("core")
def bench_core(as_json: Json = False) -> None:
    """Microseconds a transition and an ignored event, beside two well-known libraries."""
    from duologue.lab.bench.core import bench_core as measure
    from duologue.lab.bench.core import report

    with _waiting().status("measuring"):
        result = measure()
    _tell("The core", report(result), result, as_json)


@bench_app.command("runtime")
def bench_runtime(
    calls: Annotated[int, typer.Option(min=1, help="How many faulty calls to play.")] = 1_000, as_json: Json = False
) -> None:
    """What a conversation costs around the machine: latency, CPU, memory, simulation."""
    from duologue.lab.bench.runtime import bench_runtime as measure
    from duologue.lab.bench.runtime import report

    with _waiting().status("measuring") as status:
        result = measure(calls, lambda what: status.update(f"measuring: {what}"))
    _tell("The runtime", report(result), result, as_json)


@bench_app.command("ears")
def bench_ears(as_json: Json = False) -> None:
    """What hearing and speaking cost: voice detection, text, turn-taking, the voice, memory."""
    try:
        from duologue.lab.bench.ears import bench_ears as measure
        from duologue.lab.bench.ears import report
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None

    with _waiting().status("measuring, half a minute of it in real time"):
        result = measure()
    _tell("Ears and voice", report(result), result, as_json)


@bench_app.command("server")
def bench_server(
    sessions: Annotated[int, typer.Option(min=1, help="How many conversations at once.")] = 40,
    vad: Annotated[bool, typer.Option("--vad/--no-vad", help="With voice detection, or without.")] = True,
    seconds: Annotated[float, typer.Option(min=5, help="How long they talk.")] = 20.0,
    as_json: Json = False,
) -> None:
    """How many conversations one core of a server carries: latency, lag, gaps, memory."""
    try:
        from duologue.lab.bench.server import bench_server as measure
        from duologue.lab.bench.server import report
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None

    with _waiting().status("measuring") as status:
        result = measure(sessions, vad, seconds, lambda what: status.update(f"measuring: {what}"))
    _tell(f"A server with {result['sessions']} conversations", report(result), result, as_json)


@bench_app.command("store")
def bench_store(
    url: Annotated[
        str | None, typer.Option(help="A store's address; if left out, an SQLite file and a private PostgreSQL.")
    ] = None,
    as_json: Json = False,
) -> None:
    """What keeping conversations costs: checkpoints a second, claims, CPU."""
    from duologue.lab.bench.store import bench_store as measure
    from duologue.lab.bench.store import report

    with _waiting().status("measuring") as status:
        result = measure(url, lambda what: status.update(f"measuring: {what}"))
    if as_json:
        _tell("", (), result, as_json)
        return
    table = Table("what", "measured", title="The store", title_justify="left")
    for row in report(result):
        table.add_row(*row)
    out = Console()
    out.print(table)
    out.print(result["note"], style="dim")


@bench_app.command("dialogue")
def bench_dialogue(
    dialogues: Annotated[int, typer.Option(min=1, help="How many random dialogues of each kind.")] = 100,
    as_json: Json = False,
) -> None:
    """What task dialogues cost: a plain answer, the longest, whole random dialogues."""
    from duologue.lab.bench.dialogue import bench_dialogue as measure
    from duologue.lab.bench.dialogue import report

    with _waiting().status("measuring") as status:
        result = measure(dialogues, lambda what: status.update(f"measuring: {what}"))
    _tell("Task dialogues", report(result), result, as_json)


@bench_app.command("realtime")
def bench_realtime(
    turns: Annotated[int, typer.Option(min=2, help="How many turns to play.")] = 60, as_json: Json = False
) -> None:
    """What a Realtime model costs: from an event of the server to our answer on the wire."""
    from duologue.lab.bench.realtime import bench_realtime as measure
    from duologue.lab.bench.realtime import report

    with _waiting().status("measuring"):
        result = measure(turns)
    _tell("Realtime", report(result), result, as_json)


@bench_app.command("phone")
def bench_phone(
    calls: Annotated[int, typer.Option(min=1, help="How many calls at once.")] = 100,
    seconds: Annotated[float, typer.Option(min=5, help="For how long.")] = 20.0,
    as_json: Json = False,
) -> None:
    """Telephone calls at once on one core: late frames, CPU, and how fast an interruption is."""
    from duologue.lab.bench.phone import bench_phone as measure
    from duologue.lab.bench.phone import report

    with _waiting().status("measuring, in real time") as status:
        result = measure(calls, seconds, lambda what: status.update(f"measuring: {what}, in real time"))
    _tell("Telephone calls", report(result), result, as_json)


@bench_app.command("panel")
def bench_panel(
    turns: Annotated[int, typer.Option(min=4, help="How many turns are played.")] = 40, as_json: Json = False
) -> None:
    """How soon the panel shows what the server says, in a real Chromium: labels, first sound, silence."""
    try:
        from duologue.lab.bench.panel import bench_panel as measure
        from duologue.lab.bench.panel import report
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None

    with _waiting().status("measuring") as status:
        result = measure(turns, lambda what: status.update(f"measuring: {what}"))
    _tell("The panel", report(result), result, as_json)


def _waiting() -> Console:
    return Console(stderr=True)


def _tell(title: str, rows: Sequence[tuple[str, str, str]], result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        return
    table = Table("what", "measured", "budget", title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    out = Console()
    out.print(table)
    out.print(result["note"], style="dim")
