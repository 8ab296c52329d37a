"""Compares a server of several processes with a server of one process, on all cores: `duologue bench server --workers
2`.

The clients run beside the servers, on the same cores. First, both servers get the same number of conversations, few
enough for one process, and their CPU time is compared. Then both get as many conversations as the whole computer can
carry, and the answers that clients heard are counted. Rule: the CPU time of a server is the sum over all its processes,
including the parent, as the kernel counts it.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any, NamedTuple

from duologue.core.errors import DuologueError
from duologue.server.listening import bind_socket, server_url
from duologue.server.processes.parent import Parent, run_parent, wait_for_requests

from .budget import Budget
from .measured_server import run_served
from .server import speech_of_clients
from .server_clients import ClientNotes, run_callers

FULL = 0.95  # of the cores, with as many conversations as the machine can carry
STOP_S_MAX = 15.0
NOTE = (
    "Servers and clients share all cores. cpu_ms_per_session_second counts all processes of a server. For the "
    "throughput, both servers get as many conversations as fill all cores of the machine, and the answers that "
    "clients heard are counted, however late."
)
BUDGETS = (
    Budget("cpu_ratio", "CPU of a conversation, divided by that with one process", 1.1, ""),
    Budget("share_max", "largest share of the conversations at one process, times processes", 1.2, ""),
    Budget("throughput_ratio", "answers, divided by those of one process", 1.4, "", True),
)


class RunningServer(NamedTuple):
    """A running server: its port, the ids of its processes, and a pipe to each process that serves clients."""

    port: int
    pids: tuple[int, ...]
    pipes: tuple[Any, ...]


class LoadFigures(NamedTuple):
    """What was measured while several conversations ran at once: the CPU time of server and clients, and the answers
    that the clients heard."""

    sessions: tuple[int, ...]  # by process
    server_cpu_s: float
    clients_cpu_s: float
    seconds: float
    answers: int  # that clients began to hear
    turns_ms: list[float]
    failures: list[str]

    @property
    def cpu_ms_per_session_second(self) -> float:
        return self.server_cpu_s * 1000 / max(1, sum(self.sessions)) / self.seconds

    @property
    def answers_per_s(self) -> float:
        return self.answers / self.seconds


def bench_workers(
    workers: int = 2,
    sessions: int = 40,
    vad: bool = True,
    seconds: float = 20.0,
    progress: Callable[[str], None] = lambda what: None,  # noqa: ARG005
    many_sessions: int = 0,
) -> dict[str, Any]:
    """Measure a server of `workers` processes and a server of one process. Both are measured two times: with `sessions`
    conversations, and with `many_sessions` conversations. If `many_sessions` is 0, the number is chosen so that all
    cores are busy."""
    cores = len(os.sched_getaffinity(0))
    counts = (1, workers)
    few = [_measure(count, sessions, vad, seconds, progress) for count in counts]
    one = few[0]
    cost_s = (one.server_cpu_s + one.clients_cpu_s) / max(1, sum(one.sessions)) / one.seconds
    many_sessions = many_sessions or max(sessions, int(cores * FULL / cost_s))
    many = [_measure(count, many_sessions, vad, seconds, progress) for count in counts]
    return _result(workers, vad, many_sessions, few, many)


def _measure(count: int, sessions: int, vad: bool, seconds: float, progress: Callable[[str], None]) -> LoadFigures:
    spawn = multiprocessing.get_context("spawn")
    progress(f"starting {count} {'process' if count == 1 else 'processes'}")
    with _running(count, vad, sessions) as server:
        progress(f"connecting {sessions} clients to {count}")
        ours, theirs = spawn.Pipe()
        call = (theirs, None, server.port, sessions, speech_of_clients(), seconds)
        callers = spawn.Process(target=run_callers, args=call, daemon=True)
        callers.start()
        try:
            assert callers.pid is not None
            ours.recv()
            connected = _ask(server, "begin")
            before = (cpu_s(server.pids), cpu_s((callers.pid,)), time.monotonic())
            progress(f"{sum(connected)} conversations at {count}, {seconds:.0f} s")
            noted: list[ClientNotes] = ours.recv()
            after = (cpu_s(server.pids), cpu_s((callers.pid,)), time.monotonic())
        finally:
            callers.kill()
        server_s, clients_s, took_s = (late - early for late, early in zip(after, before, strict=True))
        answers = sum(at_s >= before[2] for one in noted for at_s in one.first_sound_s)
        turns = [ms for one in noted for ms in one.turns_ms]
        failures = [what for one in noted for what in one.failures]
        return LoadFigures(tuple(connected), server_s, clients_s, took_s, answers, turns, failures)


def _ask(server: RunningServer, command: str) -> list[Any]:
    for pipe in server.pipes:
        pipe.send(command)
    return [pipe.recv() for pipe in server.pipes]


def cpu_s(pids: tuple[int, ...]) -> float:
    """The CPU time of these processes. Works only on Linux."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


# -- Servers


@contextmanager
def _running(count: int, vad: bool, sessions: int) -> Iterator[RunningServer]:
    """Run a server of `count` processes, with a store in a new SQLite file. As in `duologue serve`, there is a parent
    process only if `count` is greater than 1."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    with tempfile.TemporaryDirectory() as folder, Listener(f"{folder}/pipes", "AF_UNIX") as listener:
        store = f"{folder}/store.sqlite3"
        if count == 1:
            process = spawn.Process(target=run_served, args=(theirs, None, vad, sessions + 10, store, None, False))
        else:
            given = (f"{folder}/pipes", str(int(vad)), str(sessions + 10), store)
            command = (sys.executable, "-m", "duologue.lab.bench.measured_process", *given)
            process = spawn.Process(target=run_measured_parent, args=(theirs, count, command))
        process.start()
        try:
            assert process.pid is not None
            port = ours.recv()
            pipes = [listener.accept() for _ in range(count)] if count > 1 else [ours]
            pids = [pipe.recv() for pipe in pipes] if count > 1 else []
            yield RunningServer(port, (process.pid, *pids), tuple(pipes))
            for pipe in pipes:
                pipe.send("stop")
        finally:
            process.terminate()
            process.join(STOP_S_MAX)
            process.kill()


def run_measured_parent(pipe: Connection, count: int, command: tuple[str, ...]) -> None:
    """The main function of the parent process. It sends its port through `pipe`."""
    listening = bind_socket("127.0.0.1", 0)
    wait_for_requests(listening)
    pipe.send(listening.getsockname()[1])
    url = server_url(listening)
    run_parent(Parent(listening, command, count, url=url, token="", announce=lambda lines: None))  # noqa: ARG005


# -- The result


def _result(
    workers: int, vad: bool, many_sessions: int, few: list[LoadFigures], many: list[LoadFigures]
) -> dict[str, Any]:
    failures = [what for load in (*few, *many) for what in load.failures]
    if not all(load.turns_ms for load in (*few, *many)):
        raise DuologueError(f"the clients heard no answers: {failures[:1] or 'the machine is too busy'}")
    result: dict[str, Any] = {
        "workers": workers,
        "vad": vad,
        "cores": len(os.sched_getaffinity(0)),
        "sessions": list(few[1].sessions),
        "cpu_ms_per_session_second": [round(load.cpu_ms_per_session_second, 2) for load in few],
        "clients_cpu_ms_per_session_second": round(
            few[0].clients_cpu_s * 1000 / max(1, sum(few[0].sessions)) / few[0].seconds, 2
        ),
        "cpu_ratio": round(few[1].cpu_ms_per_session_second / few[0].cpu_ms_per_session_second, 3),
        "share_max": round(max(few[1].sessions) * workers / max(1, sum(few[1].sessions)), 3),
        "many_sessions": many_sessions,
        "many_sessions_split": list(many[1].sessions),
        "answers_per_s": [round(load.answers_per_s, 2) for load in many],
        "throughput_ratio": round(many[1].answers_per_s / many[0].answers_per_s, 3),
        "turn_ms_p50": [round(statistics.median(load.turns_ms), 1) for load in many],
        "failures": failures[:5],
        "note": NOTE,
    }
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget)."""
    one, several = result["cpu_ms_per_session_second"]
    few, many = result["answers_per_s"]
    return [
        ("CPU of a second of a conversation, 1 process", f"{one} ms", ""),
        (f"CPU of a second of a conversation, {result['workers']} processes", f"{several} ms", ""),
        *(budget.row(result) for budget in BUDGETS),
        (f"answers a second, {result['many_sessions']} conversations, 1 process", f"{few}", ""),
        (f"answers a second, {result['many_sessions']} conversations, {result['workers']} processes", f"{many}", ""),
    ]
