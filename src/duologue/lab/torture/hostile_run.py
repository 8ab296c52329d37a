"""A hostile run: honest callers are timed in a quiet phase, and then while hostile clients do the worst that they can.

Rule: honest callers, the server and the hostile clients are three processes. A phase begins with the abuse, because
the limits allow most at its beginning, and it ends only when everything that honest callers began in it has ended; the
abuse goes on until then. So the slowest answers count too. Refusals right after the abuse also count for the phase.
Only `hostile_verdict` decides whether the fairness law holds.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import duologue
from duologue.core.errors import DuologueError

from .honest_callers import HonestCaller, HonestNotes
from .hostile_clients import ABUSES
from .hostile_verdict import ALL, QUIET, HostilePhase, JudgedPhase, judge
from .nodes import free_port

HONEST = 8
SETTLE_S = 2.0  # before the quiet phase, and after each kind of abuse
START_S_MAX = 60.0
STOP_S_MAX = 10.0
SAMPLE_S = 0.1  # how often the server's memory is read, and open acts are counted


@dataclass(frozen=True, slots=True)
class HostilePlan:
    """How long to run, and which kinds of abuse."""

    seconds: float = 120.0
    seed: int = 7
    kinds: tuple[str, ...] = (*ABUSES, ALL)

    @property
    def phase_s(self) -> float:
        return self.seconds / (len(self.kinds) + 1)


def _say_nothing(_text: str) -> None: ...


async def run_hostile(plan: HostilePlan, report: Callable[[str], None] = _say_nothing) -> list[JudgedPhase]:
    """Run all phases against one server. Returns what was found in each, the quiet one first. `report` is called with
    one line about each phase."""
    with tempfile.TemporaryDirectory(prefix="duologue-hostile-") as folder:
        port = free_port()
        store = f"sqlite:{folder}/store.db"
        async with _process("hostile_node", "--port", str(port), "--store", store) as server:
            await _until_ready(server)
            callers = [HonestCaller(number, port, plan.seed) for number in range(HONEST)]
            calling = [asyncio.ensure_future(caller.run()) for caller in callers]
            try:
                await _measure(callers, SETTLE_S, server.pid)  # models, pools and caches are warm afterwards
                quiet = _phase(QUIET, *await _measure(callers, plan.phase_s, server.pid), {})
                judged = [judge(quiet, quiet)]
                report(judged[-1].line)
                for kind in plan.kinds:
                    judged.append(judge(quiet, await _abused(kind, plan, callers, port, server.pid)))
                    report(judged[-1].line)
                return judged
            finally:
                for task in calling:
                    task.cancel()
                await asyncio.gather(*calling, return_exceptions=True)


async def _abused(kind: str, plan: HostilePlan, callers: list[HonestCaller], port: int, pid: int) -> HostilePhase:
    """Measure one phase with hostile clients, and what they leave behind."""
    async with _process("hostile_clients", "--port", str(port), "--kind", kind) as clients:
        await _until_ready(clients)
        notes, memory_mb = await _measure(callers, plan.phase_s, pid)
        reached = await _stopped(clients)
    after, memory_after_mb = await _measure(callers, SETTLE_S, pid)
    notes.refused += after.refused
    return _phase(kind, notes, max(memory_mb, memory_after_mb), reached)


async def _measure(callers: list[HonestCaller], seconds: float, pid: int) -> tuple[HonestNotes, int]:
    """Let the honest callers talk for this many seconds, and wait until everything that they began meanwhile has ended,
    in an answer or in a failure. Returns what they noted, and the most memory that the server used, in MB."""
    notes, memory_mb = HonestNotes(), _memory_mb(pid)
    for caller in callers:
        caller.notes = notes
    loop = asyncio.get_running_loop()
    until_s = loop.time() + seconds
    while (left_s := until_s - loop.time()) > 0:
        await asyncio.sleep(min(SAMPLE_S, left_s))
        memory_mb = max(memory_mb, _memory_mb(pid))
    for caller in callers:
        caller.notes = HonestNotes()
    while notes.open:
        await asyncio.sleep(SAMPLE_S)
        memory_mb = max(memory_mb, _memory_mb(pid))
    return notes, memory_mb


def _phase(kind: str, notes: HonestNotes, memory_mb: int, reached: dict[str, int]) -> HostilePhase:
    return HostilePhase(
        kind,
        tuple(notes.answer_ms),
        tuple(notes.refused),
        memory_mb,
        tuple(notes.turn_ms),
        tuple(notes.start_ms),
        {caller: tuple(times_ms) for caller, times_ms in notes.by_caller.items()},
        reached,
    )


def _memory_mb(pid: int) -> int:
    """How much memory this process uses; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmRSS:")), 0)


async def _stopped(clients: asyncio.subprocess.Process) -> dict[str, int]:
    """Stop the hostile clients. Returns how many of their acts reached the server; empty if they had ended before."""
    assert clients.stdin is not None
    assert clients.stdout is not None
    if clients.returncode is not None:
        return {}
    clients.stdin.close()
    try:
        async with asyncio.timeout(STOP_S_MAX):
            return dict(json.loads(await clients.stdout.readline() or "{}"))
    except (TimeoutError, ValueError):
        return {}


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


async def _until_ready(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(START_S_MAX):
        if await process.stdout.readline() != b"ready\n":
            raise DuologueError("the server or the hostile clients of the run didn't start")
