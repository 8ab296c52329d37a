"""Decides which server processes run: when they are started, replaced after they died, and stopped. Pure.

`step(state, input)` returns the next state and the intents (what to do), which the parent process performs. The time
comes with the inputs. Rule: after the first process was ready, each process that ends is replaced, until the server is
asked to stop. After its first failure, a process is replaced at once. With each further failure in a row, the wait gets
longer, up to WAIT_MS_MAX.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

WAIT_MS_MIN = 1_000
WAIT_MS_MAX = 30_000
STABLE_MS = 60_000  # after this long, a failure counts as the first one again
SILENT_TICKS_MAX = 10  # a process that says nothing for this many ticks hangs, and is killed


class ProcessStage(Enum):
    """The stage in the life of a process, from its start to its end."""

    UNSTARTED = "unstarted"  # waits until the first process is ready
    STARTING = "starting"
    READY = "ready"  # gets connections
    LEAVING = "leaving"  # lets its conversations end or move; gets no new connections
    RESTING = "resting"  # it died, and is started again at `due_ms`
    GONE = "gone"  # the server is stopping


SERVING = (ProcessStage.READY, ProcessStage.LEAVING)
ALIVE = (ProcessStage.STARTING, *SERVING)


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """What the parent knows about one process."""

    stage: ProcessStage = ProcessStage.UNSTARTED
    failures: int = 0  # in a row
    ready_ms: int = 0
    due_ms: int = 0
    silent_ticks: int = 0


@dataclass(frozen=True, slots=True)
class Supervision:
    """All processes. A process is identified by its index in the tuple. `stops` counts how often the server was asked
    to stop."""

    processes: tuple[ProcessRecord, ...]
    is_announced: bool = False
    stops: int = 0

    @property
    def ready(self) -> tuple[int, ...]:
        """The processes that get connections."""
        return tuple(at for at, one in enumerate(self.processes) if one.stage is ProcessStage.READY)


# -- Inputs


@dataclass(frozen=True, slots=True)
class ServerBegan:
    """The port is bound."""


@dataclass(frozen=True, slots=True)
class ProcessReady:
    """The process has loaded everything and takes connections."""

    process: int
    now_ms: int


@dataclass(frozen=True, slots=True)
class ProcessHeard:
    """A message came from the process, which shows that the process doesn't hang."""

    process: int


@dataclass(frozen=True, slots=True)
class ProcessLeft:
    """The process has begun to stop, or has closed its channel."""

    process: int


@dataclass(frozen=True, slots=True)
class ProcessEnded:
    """The process is gone. `code` is its exit code, or minus the number of the signal that killed it."""

    process: int
    code: int
    now_ms: int


@dataclass(frozen=True, slots=True)
class Ticked:
    """A second has passed."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class StopAsked:
    """The parent got SIGTERM or Ctrl-C."""


SupervisionInput: TypeAlias = (
    ServerBegan | ProcessReady | ProcessHeard | ProcessLeft | ProcessEnded | Ticked | StopAsked
)


# -- Intents


@dataclass(frozen=True, slots=True)
class StartProcess:
    process: int


@dataclass(frozen=True, slots=True)
class StopProcess:
    """Tell the process to let its conversations end or move, and then to end."""

    process: int


@dataclass(frozen=True, slots=True)
class KillProcess:
    process: int


@dataclass(frozen=True, slots=True)
class Announce:
    """The server can be used: print its address."""


@dataclass(frozen=True, slots=True)
class ReportEnd:
    """Log that a process has ended, and how long to wait until it is replaced."""

    process: int
    code: int
    wait_ms: int


@dataclass(frozen=True, slots=True)
class ReportHang:
    """Log that a process is killed because it hangs."""

    process: int


@dataclass(frozen=True, slots=True)
class Finish:
    """End the parent with this exit code."""

    code: int


SupervisionIntent: TypeAlias = StartProcess | StopProcess | KillProcess | Announce | ReportEnd | ReportHang | Finish
Stepped: TypeAlias = tuple[Supervision, tuple[SupervisionIntent, ...]]


# -- The machine


def supervise(count: int) -> Supervision:
    """The state before any process was started."""
    assert count >= 1
    return Supervision((ProcessRecord(),) * count)


def step(state: Supervision, given: SupervisionInput) -> Stepped:
    """Take one input. Returns the state after it, and the intents (what the parent must do now), in order."""
    match given:
        case ServerBegan():
            return _start(state, (0,))
        case ProcessReady():
            return _note_ready(state, given)
        case ProcessHeard():
            return _change(state, given.process, silent_ticks=0), ()
        case ProcessLeft():
            is_up = state.processes[given.process].stage is ProcessStage.READY
            return (_change(state, given.process, stage=ProcessStage.LEAVING), ()) if is_up else (state, ())
        case ProcessEnded():
            return _note_end(state, given)
        case Ticked():
            return _tick(state, given.now_ms)
        case StopAsked():
            return _stop(state)


def wait_ms(failures: int) -> int:
    """How long to wait before a process is started again, after this many failures in a row."""
    return 0 if failures <= 1 else min(WAIT_MS_MIN << min(failures - 2, 16), WAIT_MS_MAX)


def _note_ready(state: Supervision, given: ProcessReady) -> Stepped:
    """Note that a process is ready. If it is the first one, announce the server and start the other processes. Because
    these start later, an error in the agent is reported by only one process, and the page is available as early as with
    a single process."""
    if state.processes[given.process].stage is not ProcessStage.STARTING:
        return state, ()
    state = _change(state, given.process, stage=ProcessStage.READY, ready_ms=given.now_ms, silent_ticks=0)
    if state.is_announced:
        return state, ()
    others = tuple(at for at, one in enumerate(state.processes) if one.stage is ProcessStage.UNSTARTED)
    after, intents = _start(replace(state, is_announced=True), others)
    return after, (Announce(), *intents)


def _note_end(state: Supervision, given: ProcessEnded) -> Stepped:
    known = state.processes[given.process]
    if known.stage not in ALIVE:
        return state, ()
    if state.stops:
        return _finish_if_gone(_change(state, given.process, stage=ProcessStage.GONE))
    if not state.is_announced:  # it has said what is wrong: with the agent, the store, or the models
        return _change(state, given.process, stage=ProcessStage.GONE), (Finish(given.code if given.code > 0 else 1),)
    was_stable = known.stage is not ProcessStage.STARTING and given.now_ms - known.ready_ms >= STABLE_MS
    is_failure = given.code != 0 or known.stage is ProcessStage.STARTING
    failures = (0 if was_stable else known.failures) + 1 if is_failure else 0
    rest_ms = wait_ms(failures)
    report = ReportEnd(given.process, given.code, rest_ms)
    if rest_ms == 0:
        after, intents = _start(_change(state, given.process, failures=failures), (given.process,))
        return after, (report, *intents)
    due_ms = given.now_ms + rest_ms
    return _change(state, given.process, stage=ProcessStage.RESTING, failures=failures, due_ms=due_ms), (report,)


def _tick(state: Supervision, now_ms: int) -> Stepped:
    """Start the processes whose wait is over, and kill those that hang. A process hangs if it sends nothing for too
    many ticks of the parent. Ticks are counted instead of seconds, so that no process seems to hang after the computer
    was suspended."""
    due = tuple(
        at for at, one in enumerate(state.processes) if one.stage is ProcessStage.RESTING and one.due_ms <= now_ms
    )
    state, intents = _start(state, due)
    for at, one in enumerate(state.processes):
        if one.stage in SERVING:
            state = _change(state, at, silent_ticks=one.silent_ticks + 1)
            if one.silent_ticks + 1 == SILENT_TICKS_MAX:
                intents += (ReportHang(at), KillProcess(at))
    return state, intents


def _stop(state: Supervision) -> Stepped:
    """Stop all processes. At the first request to stop, their conversations may end or move; at the second, the
    processes are killed."""
    intents: tuple[SupervisionIntent, ...] = ()
    for at, one in enumerate(state.processes):
        if one.stage in (ProcessStage.UNSTARTED, ProcessStage.RESTING):
            state = _change(state, at, stage=ProcessStage.GONE)
        elif one.stage is ProcessStage.STARTING or (state.stops and one.stage in ALIVE):
            intents += (KillProcess(at),)  # one that is starting has no conversations
        elif one.stage in ALIVE:
            intents += (StopProcess(at),)
    state, finish = _finish_if_gone(replace(state, stops=state.stops + 1))
    return state, (*intents, *finish)


def _finish_if_gone(state: Supervision) -> Stepped:
    is_over = all(one.stage is ProcessStage.GONE for one in state.processes)
    return state, (Finish(0 if state.stops == 1 else 1),) if is_over else ()


def _start(state: Supervision, processes: tuple[int, ...]) -> Stepped:
    for at in processes:
        state = _change(state, at, stage=ProcessStage.STARTING, silent_ticks=0)
    return state, tuple(StartProcess(at) for at in processes)


def _change(state: Supervision, process: int, **changes: object) -> Supervision:
    changed = replace(state.processes[process], **changes)  # type: ignore[arg-type]
    return replace(state, processes=(*state.processes[:process], changed, *state.processes[process + 1 :]))
