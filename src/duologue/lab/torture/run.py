"""A torture run, from the first server to the verdict.

Servers, simulated people and faults run at the same time until the time is up. Then every fault ends. Each person
finishes the current exchange, completes one more exchange and hangs up. Rule: nothing is judged before every person has
hung up or timed out. A failed run leaves its logs, journals and notes in a folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from duologue.core.errors import DuologueError
from duologue.testing.postgres import PrivatePostgres

from . import store_audit
from .faults import PlannedFault, schedule
from .nodes import NodeProcess
from .person import STUCK_S, TypingPerson
from .person_notes import ConversationNotes, SavedConversation
from .proxies import ProxyProcess
from .verdict import CHECKS, HUNG_UP, Finding, is_broken_off, judge, told_lost, told_lost_max

TTL_MS = 3_000
DRAIN_S = 6.0
RESTED_S_MAX = 10.0
STARTS_S = 3.0  # all people connect within this many seconds
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TorturePlan:
    """The options of a run."""

    nodes: int = 3
    conversations: int = 50
    seed: int = 7
    seconds: float = 120.0
    store: str = ""  # a PostgreSQL URL, "sqlite", or empty for a temporary PostgreSQL

    def __post_init__(self) -> None:
        if not 1 <= self.nodes <= 12:
            raise DuologueError(f"--nodes must be from 1 to 12, not {self.nodes}")
        if self.is_sqlite and self.nodes > 1:
            raise DuologueError("an SQLite file can't be shared by several nodes: use --nodes 1 with --store sqlite")

    @property
    def is_sqlite(self) -> bool:
        return self.store == "sqlite"

    @property
    def command(self) -> str:
        """The command line that repeats this run."""
        store = " --store sqlite" if self.is_sqlite else " --store …" if self.store else ""
        minutes = f"{self.seconds / 60:g}"
        return (
            f"duologue torture --nodes {self.nodes} --conversations {self.conversations} --seed {self.seed} "
            f"--minutes {minutes}{store}"
        )


@dataclass(slots=True)
class Run:
    """The result of a run."""

    plan: TorturePlan
    result: dict[str, Any]
    failures: list[Finding]
    folder: Path | None = None  # logs and journals of a failed run

    @property
    def holds(self) -> bool:
        """Did every check pass?"""
        return not self.failures


@dataclass(slots=True)
class _Stage:
    """Everything that takes part in a run."""

    plan: TorturePlan
    nodes: list[NodeProcess]
    proxies: ProxyProcess
    file: Path | None  # the SQLite file; None for PostgreSQL
    people: list[TypingPerson]
    hurt: list[PlannedFault]  # the current faults of the store
    report: Report
    counts: dict[str, int] = field(default_factory=dict)
    busy: set[int] = field(default_factory=set)  # nodes that are down or frozen

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1


async def run(plan: TorturePlan, report: Report = lambda text: None) -> Run:  # noqa: ARG005
    """Run a plan and return the result. `report` is called with a line of text for every step. If the run passes, its
    folder is deleted."""
    folder = Path(tempfile.mkdtemp(prefix="duologue-torture-"))
    try:
        with ExitStack() as stack:
            store = _store(plan, folder, stack)
            await store_audit.prepare(store)
            made = await _played(plan, folder, store, report)
    except BaseException:
        report(f"logs: {folder}")
        raise
    if made.holds:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        made.folder = folder
    return made


def play(made: Coroutine[Any, Any, Run]) -> Run:
    """Run this coroutine, on uvloop if it is installed, so that the simulated people take little CPU from the
    servers."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.run(made)
    return uvloop.run(made)


def _store(plan: TorturePlan, folder: Path, stack: ExitStack) -> str:
    if plan.is_sqlite:
        return str(folder / "store.sqlite3")
    return plan.store or stack.enter_context(PrivatePostgres()).tcp_url


async def _played(plan: TorturePlan, folder: Path, store: str, report: Report) -> Run:
    async with _stage(plan, folder, store, report) as stage:
        talking = [asyncio.ensure_future(_come(person, plan.seed)) for person in stage.people]
        await _torture(stage)
        report("the faults are over; waiting for the conversations to finish")
        settled = await _settle(stage)
        seen = await _rested(store, stage.people)
        await asyncio.gather(*(person.hang_up() for person in stage.people))
        for person in stage.people:
            person.note_sound()
        _check_people(talking)
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)
    talks = [talk for person in stage.people for talk in person.talks]
    actions = store_audit.logged_actions(folder / "actions.jsonl")
    writes = store_audit.writes(store)
    others = sorted({write.conversation for write in writes} - seen.keys())
    seen |= await store_audit.saved_conversations(store, others)
    failures = judge(talks, seen, writes, actions, plan.conversations)
    for person, is_settled in zip(stage.people, settled, strict=True):
        if not is_settled:
            last = person.talks[-1].id if person.talks else ""
            failures.append(Finding("stuck", last, f"person {person.number} got no answer after the faults had ended"))
    result = _result(stage, talks, seen, failures)
    if failures:
        await _save_evidence(folder, store, stage, failures)
    return Run(plan, result, failures)


def _check_people(talking: Sequence[asyncio.Future[None]]) -> None:
    """If the task of a simulated person has stopped before the end of the run, raise the exception that stopped it. The
    run is useless then, because this person's notes are incomplete."""
    for task in talking:
        if task.done():
            task.result()
            raise AssertionError("a person has stopped before the end of the run")


@asynccontextmanager
async def _stage(plan: TorturePlan, folder: Path, store: str, report: Report) -> AsyncIterator[_Stage]:
    """Start everything that takes part in a run, and stop it at the end of the `with` block. Each node has a proxy. A
    PostgreSQL store also has a proxy, which is the last one."""
    async with AsyncExitStack() as stack:
        is_served = store_audit.is_postgres(store)
        nodes = [NodeProcess("abcdefghijkl"[number], folder, TTL_MS, DRAIN_S) for number in range(plan.nodes)]
        proxies = ProxyProcess()
        stack.push_async_callback(proxies.stop)
        behind = [node.port for node in nodes]
        await proxies.start([*behind, *([urlsplit(store).port or 5432] if is_served else [])])
        for node in nodes:
            node.store = _through(store, proxies.ports[-1]) if is_served else store
            stack.push_async_callback(node.kill)
        report(f"starting {len(nodes)} servers")
        await asyncio.gather(*(node.start() for node in nodes))
        by_port = dict(zip(proxies.ports, nodes, strict=False))
        hurt: list[PlannedFault] = []
        people = [
            TypingPerson(
                number + 1,
                list(by_port),
                lambda port: by_port[port].name,
                random.Random(f"{plan.seed} person {number}"),
                lambda: not hurt,
            )
            for number in range(plan.conversations)
        ]
        yield _Stage(plan, nodes, proxies, None if is_served else Path(store), people, hurt, report)


def _through(store: str, port: int) -> str:
    """The URL at which the store is reached through the proxy at this port."""
    parts = urlsplit(store)
    user = parts.netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{port}"))


async def _come(person: TypingPerson, seed: int) -> None:
    await asyncio.sleep(random.Random(f"{seed} comes {person.number}").uniform(0.0, STARTS_S))
    await person.run()


# -- Faults


async def _torture(stage: _Stage) -> None:
    """Inflict every fault of the schedule at its time. Faults may overlap. When the time is up, end them all."""
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    going: set[asyncio.Task[None]] = set()
    for fault in schedule(stage.plan.seed, stage.plan.nodes, stage.plan.seconds, TTL_MS / 1000):
        await asyncio.sleep(max(0.0, fault.at_s - (loop.time() - began_s)))
        stage.report(str(fault))
        task = asyncio.ensure_future(_inflict(stage, fault))
        going.add(task)
    await asyncio.sleep(max(0.0, stage.plan.seconds - (loop.time() - began_s)))
    for number in range(len(stage.proxies.ports)):
        stage.proxies.do(number, "heal")
    for node in stage.nodes:
        node.thaw()
    await asyncio.gather(*going)


async def _inflict(stage: _Stage, fault: PlannedFault) -> None:
    node, proxies = stage.nodes[fault.node], stage.proxies
    match fault.kind:
        case "kill" | "drain" | "freeze":
            await _disturb(stage, node, fault)
        case "cut":
            stage.count("cuts")
            proxies.do(fault.node, "cut")
        case "hang_up_lines":
            dice = random.Random(f"{stage.plan.seed} {fault.at_s}")
            for person in stage.people:
                if dice.random() < fault.amount:
                    stage.count("cuts")
                    person.cut()
        case "stall" | "swallow":
            stage.count(f"{fault.kind}s")
            proxies.do(fault.node, fault.kind)
            await asyncio.sleep(fault.lasts_s)
            proxies.do(fault.node, "heal")
        case "clock":
            stage.count("clock_jumps")
            node.set_clock(int(fault.amount))
        case _:
            stage.count("db_faults")
            stage.hurt.append(fault)
            await _hurt_store(stage, fault)
            stage.hurt.remove(fault)


async def _disturb(stage: _Stage, node: NodeProcess, fault: PlannedFault) -> None:
    """Kill, drain or freeze a node, and let it run again later. Does nothing if the node is already down or frozen."""
    if fault.node in stage.busy or not node.is_running:
        return
    stage.busy.add(fault.node)
    try:
        match fault.kind:
            case "kill":
                stage.count("kills")
                await node.kill()
            case "drain":
                stage.count("drains")
                await node.drain()
            case "freeze":
                stage.count("stops")
                node.freeze()
        await asyncio.sleep(fault.lasts_s)
        if fault.kind == "freeze":
            node.thaw()
        else:
            await node.start_with_retries()
    finally:
        stage.busy.discard(fault.node)


async def _hurt_store(stage: _Stage, fault: PlannedFault) -> None:
    if stage.file is not None:
        lasts_s = min(fault.lasts_s or 0.5, 4.0)
        await asyncio.get_running_loop().run_in_executor(None, _lock_file, stage.file, lasts_s)
        return
    proxies, proxy = stage.proxies, len(stage.nodes)
    match fault.kind:
        case "store_slow":
            proxies.do(proxy, "delay", fault.amount / 1000)
            await asyncio.sleep(fault.lasts_s)
            proxies.do(proxy, "delay")
        case "store_cut":
            proxies.do(proxy, "cut")
            await asyncio.sleep(0.5)  # until every node has noticed the cut
        case "store_away":
            proxies.do(proxy, "shut")
            await asyncio.sleep(fault.lasts_s)
            proxies.do(proxy, "heal")


def _lock_file(file: Path, lasts_s: float) -> None:
    """Lock the SQLite file for a while, as another writer would."""
    other = sqlite3.connect(file, timeout=10, isolation_level=None)
    with contextlib.closing(other), contextlib.suppress(sqlite3.OperationalError):
        other.execute("BEGIN IMMEDIATE")
        time.sleep(lasts_s)
        other.execute("ROLLBACK")


async def _settle(stage: _Stage) -> list[bool]:
    """After the faults have ended: wait until every person has got an answer to the current message and to one more
    message. Returns for each person whether both answers came in time."""
    for person in stage.people:
        person.is_settling = True
    settled = [asyncio.ensure_future(person.settled.wait()) for person in stage.people]
    done, _ = await asyncio.wait(settled, timeout=3 * STUCK_S)
    for one in settled:
        one.cancel()
    return [one in done for one in settled]


# -- The result


def _ids(people: Sequence[TypingPerson]) -> list[str]:
    return [talk.id for person in people for talk in person.talks]


async def _rested(store: str, people: Sequence[TypingPerson]) -> dict[str, SavedConversation]:
    """Wait until the store has saved what was heard last, and return the saved conversations. The store is read again
    and again, for at most RESTED_S_MAX seconds, until each conversation has ended or has neither an unanswered turn nor
    an answer that is playing."""
    loop = asyncio.get_running_loop()
    until_s = loop.time() + RESTED_S_MAX
    while True:
        seen = await store_audit.saved_conversations(store, _ids(people))
        is_rested = all(one.is_over or not (one.owed or one.is_sounding) for one in seen.values())
        if is_rested or loop.time() > until_s:
            return seen
        await asyncio.sleep(0.5)


def _result(
    stage: _Stage,
    talks: Sequence[ConversationNotes],
    seen: Mapping[str, SavedConversation],
    failures: Sequence[Finding],
) -> dict[str, Any]:
    counted = {check: sum(failure.check == check for failure in failures) for check in CHECKS}
    taken_up = [one for person in stage.people for one in person.recoveries if one.is_elsewhere]
    recovered, hampered = (sorted(one.ms for one in taken_up if one.is_fair is fair) for fair in (True, False))
    early = Counter(talk.ended for talk in talks if talk.ended not in ("", HUNG_UP))
    counts = stage.counts
    return {
        **counted,
        "conversations": len(talks),
        "kills": counts.get("kills", 0),
        "turns": sum(len(talk.turns) for talk in talks),
        "told_lost": told_lost(talks, seen),
        "told_lost_max": told_lost_max(talks),
        "broken_off": sum(is_broken_off(turn) for talk in talks for turn in talk.turns),
        "ended_early": early.total(),
        "ended_early_because": dict(sorted(early.items())),
        "reconnects": sum(person.reconnects for person in stage.people),
        "recoveries": len(taken_up),
        "recovery_ms_max_store_hurt": _quantile(hampered, 1.0),
        **{f"recovery_ms_{name}": _quantile(recovered, at) for name, at in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))},
        **{name: counts.get(name, 0) for name in ("stops", "drains", "cuts", "stalls", "swallows", "db_faults")},
        "clock_jumps": counts.get("clock_jumps", 0),
        "seed": stage.plan.seed,
    }


def _quantile(values: Sequence[int], at: float) -> int:
    return values[min(len(values) - 1, int(len(values) * at))] if values else 0


async def _save_evidence(folder: Path, store: str, stage: _Stage, failures: Sequence[Finding]) -> None:
    guilty = sorted({failure.conversation for failure in failures if failure.conversation})
    await store_audit.journals(store, guilty, folder)
    talks = {talk.id: talk for person in stage.people for talk in person.talks}
    for id_ in guilty:
        if id_ in talks:
            text = json.dumps(asdict(talks[id_]), indent=1)
            (folder / f"{id_}.notes.json").write_text(text, encoding="utf-8")
    listed = "".join(f"{one.check}  {one.conversation}  {one.what}\n" for one in failures)
    (folder / "failures.txt").write_text(f"{stage.plan.command}\n\n{listed}", encoding="utf-8")
