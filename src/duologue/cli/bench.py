"""`duologue bench`: measures latency, CPU and memory on this computer and compares them with their budgets.

Rule: every figure is measured while the command runs; none is read from a stored result.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from duologue.core.errors import DuologueError

from .json_output import JsonOption, write_json
from .requirements import not_installed

if TYPE_CHECKING:
    from duologue.lab.bench.talk import Expected

bench_app = typer.Typer(help="Measure latency, CPU and memory on this machine.", no_args_is_help=True)


@bench_app.command("core")
def bench_core(as_json: JsonOption = False) -> None:
    """Measure the core: microseconds per transition and per ignored event. Two well-known libraries are measured for
    comparison."""
    from duologue.lab.bench.core import bench_core as measure
    from duologue.lab.bench.core import report

    with _waiting().status("measuring"):
        result = measure()
    _show("The core", report(result), result, as_json)


@bench_app.command("runtime")
def bench_runtime(
    calls: Annotated[int, typer.Option(min=1, help="How many calls with faults to simulate.")] = 1_000,
    as_json: JsonOption = False,
) -> None:
    """Measure the runtime around the core: latency, CPU, memory and simulation speed."""
    from duologue.lab.bench.runtime import bench_runtime as measure
    from duologue.lab.bench.runtime import report

    with _waiting().status("measuring") as status:
        result = measure(calls, lambda what: status.update(f"measuring: {what}"))
    _show("The runtime", report(result), result, as_json)


@bench_app.command("ears")
def bench_ears(as_json: JsonOption = False) -> None:
    """Measure hearing and speaking: VAD, STT, turn-taking, TTS and memory."""
    try:
        from duologue.lab.bench.ears import bench_ears as measure
        from duologue.lab.bench.ears import report
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None

    with _waiting().status("measuring, a minute of it in real time"):
        result = measure()
    _show("Ears and voice", report(result), result, as_json)


@bench_app.command("talk")
def bench_talk(
    labels: Annotated[Path, typer.Option(help="A set of recordings: a line of JSON for each, with its end of turn.")],
    every: Annotated[int, typer.Option(min=1, help="Play only every n-th recording.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Measure how long people wait for an answer in two cases: the brain is asked only at the end of a turn, or
    earlier."""
    try:
        from duologue.lab.bench import talk

        from .listen import make_listener
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    recordings = _read_recordings(labels, every)
    listener = make_listener("combined", None, "confirm", "tiny")
    results = []
    runs = [(speed, mode) for speed in talk.SPEEDS for mode in talk.MODES]
    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("talking", total=len(runs) * len(recordings))
        for (brain_ms, voice_ms), mode in runs:
            talker = talk.Talker(listener.ears, listener.endpoint, listener.settings, brain_ms, voice_ms, mode)
            results.append(talk.measure(talker, recordings, lambda: shown.advance(task)))
    if as_json:
        write_json({"runs": results})
        return
    table = Table("brain + voice", "asks early", "wait p50", "p90", "cut-ins", "requests a turn", "unanswered")
    for row in talk.report(results):
        table.add_row(*row)
    Console().print(table)


@bench_app.command("page")
def bench_page(
    labels: Annotated[Path, typer.Option(help="A set of recordings: a line of JSON for each, with its end of turn.")],
    every: Annotated[int, typer.Option(min=1, help="Play only every n-th recording.")] = 1,
    transport: Annotated[str, typer.Option(help="How the page sends and gets sound: pcm, opus or both.")] = "both",
    as_json: JsonOption = False,
) -> None:
    """Measure, in a real Chromium and in real time, how long people wait for an answer in the web panel, and compare
    that with `duologue listen`."""
    try:
        from duologue.lab.bench.page import TRANSPORTS
        from duologue.lab.bench.page import bench_page as measure
        from duologue.lab.bench.page_pairs import report

        from .listen import make_listener
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    if transport not in (*TRANSPORTS, "both"):
        raise DuologueError(f"unknown transport {transport!r}: use pcm, opus or both")
    recordings = _read_recordings(labels, every)
    listener = make_listener("combined", None, "confirm", "tiny")
    with _waiting().status("measuring") as status:
        transports = TRANSPORTS if transport == "both" else (transport,)
        result = measure(listener, recordings, transports, lambda what: status.update(f"measuring: {what}"))
    if as_json:
        write_json(result)
        return
    columns = (f"{name}, {which}" for name in transports for which in ("median", "p90"))
    title = f"The page and {len(recordings)} recordings, load {result['load']}"
    table = Table("what", *columns, title=title, title_justify="left")
    for row in report(result):
        table.add_row(*row)
    out = Console()
    out.print(table)
    out.print(result["note"], style="dim")


def _read_recordings(labels: Path, every: int) -> list[Expected]:
    from duologue.lab.bench.talk import read_expected

    try:
        recordings = read_expected(labels)[::every]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DuologueError(f"{labels}: expected a line of JSON for each recording, with its expected events") from None
    if not recordings:
        raise DuologueError(f"{labels}: no recording in this file has an end of turn")
    return recordings


@bench_app.command("webrtc")
def bench_webrtc(
    sessions: Annotated[int, typer.Option(min=1, help="How many peer connections run at once.")] = 5,
    seconds: Annotated[float, typer.Option(min=1, help="How many seconds both sides speak.")] = 10.0,
    speech: Annotated[bool, typer.Option("--speech", help="Also measure how well the local STT works.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure WebRTC: the CPU time of a session in which both sides speak, and sessions on a network that loses and
    delays packets."""
    try:
        from duologue.lab.bench.webrtc import bench_webrtc as measure
        from duologue.lab.bench.webrtc import report
    except ModuleNotFoundError:
        raise not_installed("the benchmark", "webrtc") from None

    with _waiting().status("measuring") as status:
        result = measure(sessions, seconds, lambda what: status.update(f"measuring: {what}"), speech)
    _show("WebRTC", report(result), result, as_json)


@bench_app.command("opus")
def bench_opus(
    seconds: Annotated[float, typer.Option(min=1, help="How many seconds of speech to send.")] = 30.0,
    as_json: JsonOption = False,
) -> None:
    """Measure Opus on clients' sockets: bytes, CPU time, and how much later the sound arrives."""
    try:
        from duologue.lab.bench.opus import bench_opus as measure
        from duologue.lab.bench.opus import report
    except ModuleNotFoundError:
        raise not_installed("the benchmark", "webrtc") from None

    with _waiting().status("measuring") as status:
        result = measure(seconds, lambda what: status.update(f"measuring: {what}"))
    _show("Opus on sockets", report(result), result, as_json)


@bench_app.command("understood")
def bench_understood(as_json: JsonOption = False) -> None:
    """Measure how much sooner the turns of synthetic callers end if the brain may report that it has understood the
    caller."""
    try:
        from duologue.flows import load_flows
        from duologue.lab.bench import understood
        from duologue.ports.voice import Voice
        from duologue.starter.write_project import examples_folder
        from duologue.voice.espeak import EspeakVoice
        from duologue.voice.local import LocalVoice

        from .listen import make_listener
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    domain = load_flows(examples_folder() / "flights.yaml")
    listener = make_listener("combined", None, "confirm", "tiny")
    voices: dict[str, Voice] = {
        name: LocalVoice() if name == "pico" else EspeakVoice(name) for name in understood.VOICES
    }
    spoken = understood.speak(voices)
    results = []
    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("listening", total=2 * len(spoken))
        for judges in (False, True):
            found = understood.measure(listener, domain, "book_flight", spoken, judges, lambda: shown.advance(task))
            results.append(understood.to_json(found))
    if as_json:
        write_json({"runs": results})
        return
    table = Table("the brain says", "turns", "wait p50", "p90", "understood", "wait p50", "p90", "cut-ins")
    for row in understood.report(results):
        table.add_row(*row)
    Console().print(table)


@bench_app.command("server")
def bench_server(
    sessions: Annotated[int, typer.Option(min=1, help="How many conversations run at once.")] = 40,
    vad: Annotated[bool, typer.Option("--vad/--no-vad", help="Run VAD on the audio.")] = True,
    seconds: Annotated[float, typer.Option(min=5, help="How many seconds the conversations last.")] = 20.0,
    workers: Annotated[
        int, typer.Option(min=1, help="If more than 1: compare this many processes on all cores with one process.")
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Measure how many conversations one CPU core of a server can run at the same time: latency, lag, gaps, memory."""
    if workers > 1:
        _bench_workers(workers, sessions, vad, seconds, as_json)
        return
    try:
        from duologue.lab.bench.server import bench_server as measure
        from duologue.lab.bench.server import report
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None

    with _waiting().status("measuring") as status:
        result = measure(sessions, vad, seconds, lambda what: status.update(f"measuring: {what}"))
    _show(f"A server with {result['sessions']} conversations", report(result), result, as_json)


def _bench_workers(workers: int, sessions: int, vad: bool, seconds: float, as_json: bool) -> None:
    try:
        from duologue.lab.bench.server_workers import bench_workers as measure
        from duologue.lab.bench.server_workers import report
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None

    with _waiting().status("measuring") as status:
        result = measure(workers, sessions, vad, seconds, lambda what: status.update(f"measuring: {what}"))
    _show(f"A server with {workers} processes", report(result), result, as_json)


@bench_app.command("store")
def bench_store(
    url: Annotated[
        str | None,
        typer.Option(help="The URL of a store; without it, an SQLite file and a temporary PostgreSQL are measured."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the store: checkpoints written per second, how fast leases are claimed, CPU time."""
    from duologue.lab.bench.store import bench_store as measure
    from duologue.lab.bench.store import report

    with _waiting().status("measuring") as status:
        result = measure(url, lambda what: status.update(f"measuring: {what}"))
    if as_json:
        write_json(result)
        return
    table = Table("what", "measured", title="The store", title_justify="left")
    for row in report(result):
        table.add_row(*row)
    out = Console()
    out.print(table)
    out.print(result["note"], style="dim")


@bench_app.command("dialogue")
def bench_dialogue(
    dialogues: Annotated[int, typer.Option(min=1, help="How many random dialogues of each kind to play.")] = 100,
    as_json: JsonOption = False,
) -> None:
    """Measure how long task dialogues take to compute: a short answer, the longest answer, and whole random
    dialogues."""
    from duologue.lab.bench.dialogue import bench_dialogue as measure
    from duologue.lab.bench.dialogue import report

    with _waiting().status("measuring") as status:
        result = measure(dialogues, lambda what: status.update(f"measuring: {what}"))
    _show("Task dialogues", report(result), result, as_json)


@bench_app.command("realtime")
def bench_realtime(
    turns: Annotated[int, typer.Option(min=2, help="How many turns to play.")] = 60, as_json: JsonOption = False
) -> None:
    """Measure the connection to a Realtime model: the time between an event from the model's server and Duologue's
    answer."""
    from duologue.lab.bench.realtime import bench_realtime as measure
    from duologue.lab.bench.realtime import report

    with _waiting().status("measuring"):
        result = measure(turns)
    _show("Realtime", report(result), result, as_json)


@bench_app.command("realtime-clients")
def bench_realtime_clients(
    clients: Annotated[int, typer.Option(min=1, help="How many clients are connected at once.")] = 100,
    seconds: Annotated[float, typer.Option(min=5, help="How many seconds the clients talk.")] = 20.0,
    as_json: JsonOption = False,
) -> None:
    """Measure how well one CPU core serves clients of the OpenAI Realtime protocol: late sound, CPU time, and the time
    to answer an event."""
    from duologue.lab.bench.realtime_clients import bench_realtime_clients as measure
    from duologue.lab.bench.realtime_clients import report

    with _waiting().status("measuring, in real time") as status:
        result = measure(clients, seconds, progress=lambda what: status.update(f"measuring: {what}, in real time"))
    _show("Clients of the Realtime protocol", report(result), result, as_json)


@bench_app.command("phone")
def bench_phone(
    calls: Annotated[int, typer.Option(min=1, help="How many calls run at once.")] = 100,
    seconds: Annotated[float, typer.Option(min=5, help="How many seconds the calls last.")] = 20.0,
    as_json: JsonOption = False,
) -> None:
    """Measure concurrent telephone calls on one CPU core: late audio frames, CPU time, and how long it takes to
    interrupt the agent."""
    from duologue.lab.bench.phone import bench_phone as measure
    from duologue.lab.bench.phone import report

    with _waiting().status("measuring, in real time") as status:
        result = measure(calls, seconds, lambda what: status.update(f"measuring: {what}, in real time"))
    _show("Telephone calls", report(result), result, as_json)


@bench_app.command("panel")
def bench_panel(
    turns: Annotated[int, typer.Option(min=4, help="How many turns to play.")] = 40,
    opus: Annotated[bool, typer.Option("--opus/--no-opus", help="Send sound as Opus, or as PCM.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Measure, in a real Chromium, how soon the web panel follows the server: how soon a changed label is shown, how
    soon a reply is first audible, and how soon the sound stops."""
    try:
        from duologue.lab.bench.panel import bench_panel as measure
        from duologue.lab.bench.panel import report
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None

    with _waiting().status("measuring") as status:
        result = measure(turns, lambda what: status.update(f"measuring: {what}"), opus)
    _show("The panel", report(result), result, as_json)


@bench_app.command("echo")
def bench_echo(
    minutes: Annotated[float, typer.Option(min=0.5, help="How many minutes each call without a person lasts.")] = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Measure echo on the telephone: does the agent interrupt or answer itself, and can people still interrupt it?"""
    try:
        from duologue.lab.bench.echo import bench_echo as measure
        from duologue.lab.bench.echo import report
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None

    with _waiting().status("measuring") as status:
        result = measure(minutes, lambda what: status.update(f"measuring: {what}"))
    if as_json:
        write_json(result)
        return
    table = Table("echo", "interrupts / answers itself", "interruptions that work", title_justify="left")
    for row in report(result):
        table.add_row(*row)
    Console().print(table)


@bench_app.command("noise")
def bench_noise(
    recordings: Annotated[Path, typer.Argument(help="A set of recordings: the file with a line of JSON for each.")],
    noises: Annotated[Path, typer.Argument(help="A set of noises in the same form.")],
    limit: Annotated[int, typer.Option(min=1, help="How many recordings to transcribe.")] = 60,
    as_json: JsonOption = False,
) -> None:
    """Measure how noise suppression changes the errors in transcripts, at several levels of noise."""
    try:
        from duologue.lab.bench.noise import LEVELS_DB, report
        from duologue.lab.bench.noise import bench_noise as measure

        with _waiting().status("measuring") as status:
            result = measure(recordings, noises, limit, lambda what: status.update(f"measuring: {what}"))
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    if as_json:
        write_json(result)
        return
    levels = ["no noise" if level is None else f"{level} dB" for level in LEVELS_DB]
    title = f"Wrong words of {result['words']} in {result['recordings']} recordings"
    table = Table("suppressor", *levels, "CPU per second", "delay", title=title, title_justify="left")
    for row in report(result):
        table.add_row(*row)
    Console().print(table)


def _waiting() -> Console:
    return Console(stderr=True)


def _show(title: str, rows: Sequence[tuple[str, str, str]], result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        write_json(result)
        return
    table = Table("what", "measured", "budget", title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    out = Console()
    out.print(table)
    out.print(result["note"], style="dim")
