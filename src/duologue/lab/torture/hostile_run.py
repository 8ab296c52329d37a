"""A hostile run: honest callers are timed in a quiet phase, and then while hostile clients do the worst that they can.

The fairness law has three parts. With hostile clients, 95 % of the answers to honest callers come within twice the time
of the quiet phase plus 200 ms. Memory grows by at most 50 MB for each hostile client. No honest caller is refused.
Rule: honest callers, the server and the hostile clients are three processes, and only `judge` decides whether the law
holds.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duologue
from duologue.core.errors import DuologueError

from .honest_callers import HonestCaller, HonestNotes
from .hostile_clients import ABUSES, CLIENTS
from .nodes import free_port

HONEST = 8
SLACK_MS = 200
MB_PER_CLIENT = 50
SETTLE_S = 2.0  # after the abuse has begun, and after it has ended
START_S_MAX = 60.0
QUIET = "quiet"
ALL = "all"


@dataclass(frozen=True, slots=True)
class HostilePlan:
    """How long to run, and which kinds of abuse."""

    seconds: float = 120.0
    seed: int = 7
    kinds: tuple[str, ...] = (*ABUSES, ALL)

    @property
    def phase_s(self) -> float:
        return self.seconds / (len(self.kinds) + 1)


@dataclass(frozen=True, slots=True)
class HostilePhase:
    """What was found in one phase."""

    kind: str
    answer_ms: tuple[tuple[str, int], ...]  # the kind of turn, and its time
    refused: tuple[str, ...]
    memory_mb: int

    @property
    def p95_ms(self) -> int:
        ordered = sorted(ms for _, ms in self.answer_ms)
        return ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)] if ordered else 0


@dataclass(frozen=True, slots=True)
class JudgedPhase:
    """A phase, and the limits of the fairness law for it. `why` says how the law was broken; it is empty if the law
    holds."""

    phase: HostilePhase
    p95_ms_max: int
    memory_mb_max: int
    why: str


def judge(quiet: HostilePhase, phase: HostilePhase) -> JudgedPhase:
    """Decide whether the fairness law holds in this phase, compared with the quiet phase."""
    p95_ms_max = 2 * quiet.p95_ms + SLACK_MS
    memory_mb_max = quiet.memory_mb + MB_PER_CLIENT * CLIENTS
    why = []
    if not phase.answer_ms:
        why.append("no answer came")
    if phase.p95_ms > p95_ms_max:
        why.append(f"p95 of the answers is {phase.p95_ms} ms, but at most {p95_ms_max} ms are allowed")
    if phase.memory_mb > memory_mb_max:
        why.append(f"the server uses {phase.memory_mb} MB, but at most {memory_mb_max} MB are allowed")
    if phase.refused:
        why.append(f"{len(phase.refused)} honest callers were refused, first: {phase.refused[0]}")
    return JudgedPhase(phase, p95_ms_max, memory_mb_max, "; ".join(why))


def hostile_rows(judged: list[JudgedPhase]) -> list[tuple[str, ...]]:
    """One row for each phase: its name, the number of answers, their 95th percentile in ms and its limit, the memory in
    MB and its limit, and how often honest callers were refused. The quiet phase has no limits."""
    return [
        (
            one.phase.kind,
            str(len(one.phase.answer_ms)),
            str(one.phase.p95_ms),
            str(one.p95_ms_max) if one.phase.kind != QUIET else "",
            str(one.phase.memory_mb),
            str(one.memory_mb_max) if one.phase.kind != QUIET else "",
            str(len(one.phase.refused)),
        )
        for one in judged
    ]


def as_json(judged: list[JudgedPhase]) -> dict[str, Any]:
    return {
        "phases": [
            {
                "kind": one.phase.kind,
                "answers": len(one.phase.answer_ms),
                "p95_ms": one.phase.p95_ms,
                "p95_ms_max": one.p95_ms_max,
                "memory_mb": one.phase.memory_mb,
                "memory_mb_max": one.memory_mb_max,
                "refused": list(one.phase.refused),
                "why": one.why,
            }
            for one in judged
        ],
        "holds": not any(one.why for one in judged),
    }


def _say_nothing(_text: str) -> None: ...


async def run_hostile(plan: HostilePlan, report: Callable[[str], None] = _say_nothing) -> list[JudgedPhase]:
    """Run all phases against one server. Returns what was found in each, the quiet one first."""
    with tempfile.TemporaryDirectory(prefix="duologue-hostile-") as folder:
        port = free_port()
        store = f"sqlite:{folder}/store.db"
        async with _process("hostile_node", "--port", str(port), "--store", store) as server:
            await _until_ready(server)
            callers = [HonestCaller(number, port, plan.seed) for number in range(HONEST)]
            calling = [asyncio.ensure_future(caller.run()) for caller in callers]
            try:
                report("quiet")
                await _measure(callers, SETTLE_S)  # models, pools and caches are warm afterwards
                quiet = _phase(QUIET, await _measure(callers, plan.phase_s), server.pid)
                judged = [judge(quiet, quiet)]
                for kind in plan.kinds:
                    report(kind)
                    async with _process("hostile_clients", "--port", str(port), "--kind", kind):
                        await _measure(callers, SETTLE_S)
                        notes = await _measure(callers, plan.phase_s)
                        judged.append(judge(quiet, _phase(kind, notes, server.pid)))
                    await _measure(callers, SETTLE_S)
                return judged
            finally:
                for task in calling:
                    task.cancel()
                await asyncio.gather(*calling, return_exceptions=True)


async def _measure(callers: list[HonestCaller], seconds: float) -> HonestNotes:
    """Let the honest callers talk for this many seconds, and return what they noted meanwhile."""
    notes = HonestNotes()
    for caller in callers:
        caller.notes = notes
    await asyncio.sleep(seconds)
    for caller in callers:
        caller.notes = HonestNotes()
    return notes


def _phase(kind: str, notes: HonestNotes, pid: int) -> HostilePhase:
    return HostilePhase(kind, tuple(notes.answer_ms), tuple(notes.refused), _memory_mb(pid))


def _memory_mb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS:"))


@contextlib.asynccontextmanager
async def _process(module: str, *given: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a module of this package as a process. The process is ended at the end of the `with` block."""
    source = str(Path(duologue.__file__).parent.parent)
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH", ""))))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"duologue.lab.torture.{module}", *given),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _until_ready(server: asyncio.subprocess.Process) -> None:
    assert server.stdout is not None
    async with asyncio.timeout(START_S_MAX):
        if await server.stdout.readline() != b"ready\n":
            raise DuologueError("the server of the hostile run didn't start")
