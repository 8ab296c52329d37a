"""A torture run on the simulated clock: the real parts of several servers, simulated users, and a store that fails.

It takes seconds instead of minutes. The seed also determines the ids and keys of the conversations, so the same seed
and the same code give the same run, message for message. Real processes, sockets, databases and frozen servers are left
out; the module `run` has them. Instead of being frozen, a server is cut off from the store while it goes on running.
Rule: nothing waits in real time.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from duologue.client import ConnectionFailed, ProtocolSocket
from duologue.ports.store import StoreFailed, Unsure
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.access_control import AccessControl
from duologue.server.client_socket import Gate
from duologue.server.connection_limit import ConnectionLimit
from duologue.server.conversations import Conversations
from duologue.server.leases import Leases
from duologue.server.settings import Limits, ServerSettings, many_at_one_address
from duologue.store.memory import MemoryStore

from . import store_audit
from .person import STUCK_S, TypingPerson
from .person_notes import AcceptedWrite, ConversationNotes
from .simulated_line import SimulatedLine
from .tortured_agent import ActionLog, make_agent
from .verdict import Finding, judge, told_lost

TTL_MS = 3_000
DRAIN_S = 6.0
HOST = b"127.0.0.1"
FAULTS = ("kill", "kill", "drain", "cut", "hang_up", "store_away", "store_away", "store_slow", "apart")


@dataclass(frozen=True, slots=True)
class SimulatedPlan:
    """What to simulate. `faults` lists the kinds of faults that may happen. Every second or two, one fault begins."""

    seed: int
    nodes: int = 3
    people: int = 4
    seconds: float = 40.0
    faults: tuple[str, ...] = FAULTS
    store_away_s_max: float = 12.0  # longer than the sound of an answer is held


@dataclass(frozen=True, slots=True)
class SimulatedResult:
    """The result of a simulated run."""

    talks: list[ConversationNotes]
    findings: list[Finding]
    faults: list[str]
    unanswered: int

    @property
    def turns(self) -> int:
        return sum(len(talk.turns) for talk in self.talks)


class FailingStore:
    """A node's connection to the shared store. The store can be slow, or unreachable for this node or for all nodes. If
    it becomes unreachable during a call to the store, the store may or may not have done what the call asked for."""

    def __init__(self, store: MemoryStore, world: SimulatedWorld, node: str) -> None:
        self._store = store
        self._world = world
        self._node = node
        self.is_away = False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        asked = getattr(self._store, name)

        async def ask(*given: Any, **more: Any) -> Any:
            if name in ("open", "close"):
                return await asked(*given, **more)
            self._check(StoreFailed)
            await asyncio.sleep(self._world.dice.uniform(0.0, self._world.store_delay_s))
            self._check(StoreFailed)
            done = await asked(*given, **more)
            if name == "write":
                self._world.note_write(AcceptedWrite(given[0].conversation, self._node, given[0].epoch, done))
            await asyncio.sleep(self._world.dice.uniform(0.0, self._world.store_delay_s))
            self._check(Unsure if name in ("write", "begin", "finish") else StoreFailed)
            return done

        return ask

    def _check(self, problem: type[StoreFailed]) -> None:
        if self.is_away or self._world.is_store_away:
            raise problem("the store is unreachable")


class SimulatedNode:
    """One simulated server process. It consists of the real parts of a server, without sockets."""

    def __init__(self, world: SimulatedWorld, name: str) -> None:
        self.name = name
        self._world = world
        limits = many_at_one_address(Limits(drain_s_max=DRAIN_S), 1_000)
        settings = ServerSettings(limits=limits)
        self.store = FailingStore(world.store, world, name)
        self.leases = Leases(self.store, name, ttl_ms=TTL_MS)
        self.conversations = Conversations(make_agent(ActionLog(world.actions, name)), settings, self.leases)
        shared, note_refused = self.conversations.shared_limits, self.conversations.note_refused
        limit = ConnectionLimit(shared, (), note_refused)
        self._gate = Gate(self.conversations, settings, AccessControl(settings, shared, limit, note_refused))
        self._lines: dict[SimulatedLine, asyncio.Task[None]] = {}

    async def open(self) -> None:
        while True:
            try:
                return await self.leases.open(self.conversations)
            except StoreFailed:
                await asyncio.sleep(0.5)

    def accept(self) -> SimulatedLine:
        line = SimulatedLine(self._world.dice)
        scope = {"type": "websocket", "path": "/ws", "client": ("127.0.0.1", 1), "headers": [(b"host", HOST)]}
        scope |= {"query_string": b""}
        serving = asyncio.ensure_future(self._gate(scope, line.receive, line.send_event))
        self._lines[line] = serving
        serving.add_done_callback(lambda _: self._lines.pop(line, None))
        serving.add_done_callback(lambda _: line.abort())
        return line

    def cut(self) -> None:
        for line in tuple(self._lines):
            line.abort()

    def kill(self) -> None:
        self.conversations.crash()
        for line, serving in tuple(self._lines.items()):
            line.abort()
            serving.cancel()

    async def drain(self) -> None:
        await self.conversations.drain()
        await self.leases.close()
        self.cut()


class SimulatedWorld:
    """Everything that takes part in a simulated run."""

    def __init__(self, plan: SimulatedPlan, folder: Path) -> None:
        loop = asyncio.get_running_loop()
        self.plan = plan
        self.dice = random.Random(f"{plan.seed} delays")
        self.store = MemoryStore(lambda: round(loop.time() * 1000))
        self.is_store_away = False
        self.store_delay_s = 0.005
        self.writes: list[AcceptedWrite] = []
        self.actions = folder / "actions.jsonl"
        self.faults: list[str] = []
        self._births = 0
        self._busy: set[int] = set()
        self.nodes: list[SimulatedNode | None] = [None] * plan.nodes
        self.people = [
            TypingPerson(
                number,
                list(range(plan.nodes)),
                self._process_at,
                random.Random(f"{plan.seed} person {number}"),
                lambda: not self.is_store_away,
                self._connect_to,
            )
            for number in range(1, plan.people + 1)
        ]

    def _process_at(self, place: int) -> str:
        node = self.nodes[place]
        return node.name if node is not None else ""

    async def _connect_to(self, place: int) -> ProtocolSocket:
        node = self.nodes[place]
        if node is None:
            raise ConnectionFailed("no server is running at this port")
        return ProtocolSocket(node.accept())  # type: ignore[arg-type]

    def note_write(self, write: AcceptedWrite) -> None:
        """Record a write that the store has accepted. If the same write is accepted again unchanged, it is recorded
        only once."""
        if write not in self.writes[-200:]:
            self.writes.append(write)

    async def start(self, place: int) -> None:
        self._births += 1
        node = SimulatedNode(self, f"{'abcdefghijkl'[place]}{self._births}")
        await node.open()
        self.nodes[place] = node

    # -- Faults

    async def torture(self) -> None:
        dice, loop = random.Random(f"{self.plan.seed} faults"), asyncio.get_running_loop()
        began_s, going = loop.time(), set[asyncio.Task[None]]()
        await asyncio.sleep(2.0)
        while loop.time() - began_s < self.plan.seconds:
            kind, place, lasts_s = dice.choice(self.plan.faults), dice.randrange(self.plan.nodes), dice.random()
            self.faults.append(f"{loop.time():6.2f} s  {kind} of {'abcdefghijkl'[place]}, {lasts_s:.2f}")
            going.add(asyncio.ensure_future(self._inflict(kind, place, lasts_s)))
            await asyncio.sleep(dice.uniform(0.5, 3.0))
        await asyncio.gather(*going)

    async def _inflict(self, kind: str, place: int, amount: float) -> None:
        node = self.nodes[place]
        match kind:
            case "kill" | "drain" if node is not None and place not in self._busy:
                self._busy.add(place)
                self.nodes[place] = None
                if kind == "kill":
                    node.kill()
                else:
                    await node.drain()
                await asyncio.sleep(2.0 * amount)
                await self.start(place)
                self._busy.discard(place)
            case "cut" if node is not None:
                node.cut()
            case "hang_up":
                for person in self.people:
                    if self.dice.random() < amount:
                        person.cut()
            case "store_away":
                self.is_store_away = True
                await asyncio.sleep(amount * self.plan.store_away_s_max)
                self.is_store_away = False
            case "store_slow":
                self.store_delay_s = 0.4 * amount
                await asyncio.sleep(3.0)
                self.store_delay_s = 0.005
            case "apart" if node is not None:
                node.store.is_away = True
                await asyncio.sleep(2 * TTL_MS / 1000 * amount)
                node.store.is_away = False

    async def settle(self) -> list[bool]:
        """After the faults: wait until each person got an answer to the current message and to one more."""
        for person in self.people:
            person.is_settling = True
        waiting = [asyncio.ensure_future(person.settled.wait()) for person in self.people]
        done, _ = await asyncio.wait(waiting, timeout=3 * STUCK_S)
        for one in waiting:
            one.cancel()
        return [one in done for one in waiting]


async def _played(plan: SimulatedPlan, folder: Path) -> SimulatedResult:
    world = SimulatedWorld(plan, folder)
    await asyncio.gather(*(world.start(place) for place in range(plan.nodes)))
    talking = [asyncio.ensure_future(person.run()) for person in world.people]
    await world.torture()
    settled = await world.settle()
    await asyncio.sleep(2.0)
    talks = [talk for person in world.people for talk in person.talks]
    saved = await store_audit.saved_in(world.store, [talk.id for talk in talks])
    await asyncio.gather(*(person.hang_up() for person in world.people))
    for person in world.people:
        person.note_sound()
    for task in talking:
        if task.done():
            task.result()
        task.cancel()
    await asyncio.gather(*talking, return_exceptions=True)
    talks = [talk for person in world.people for talk in person.talks]
    others = sorted({write.conversation for write in world.writes} - saved.keys())
    saved |= await store_audit.saved_in(world.store, others)
    findings = judge(talks, saved, world.writes, store_audit.logged_actions(world.actions), plan.people)
    for person, is_settled in zip(world.people, settled, strict=True):
        if not is_settled:
            findings.append(Finding("stuck", "", f"person {person.number} got no answer after the faults had ended"))
    return SimulatedResult(talks, findings, world.faults, told_lost(talks, saved))


def simulate(plan: SimulatedPlan) -> SimulatedResult:
    """Play this plan."""
    with tempfile.TemporaryDirectory(prefix="duologue-simulated-") as folder, _seeded_ids(plan.seed):
        return run_simulated(_played(plan, Path(folder)))


@contextmanager
def _seeded_ids(seed: int) -> Iterator[None]:
    """Inside the `with` block, new ids and keys are made from the seed. Ids matter because nodes take conversations
    over in the order of their ids."""
    dice = random.Random(f"{seed} ids")

    def make_id() -> uuid.UUID:
        return uuid.UUID(int=dice.getrandbits(128))

    def make_key(size: int) -> str:
        return dice.randbytes(size).hex()

    with (
        mock.patch.object(uuid, "uuid4", make_id),
        mock.patch.object(secrets, "token_urlsafe", make_key),
        mock.patch.object(secrets, "token_hex", make_key),
    ):
        yield
