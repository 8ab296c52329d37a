"""SQLite and PostgreSQL do, step by step, what a few dictionaries do."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule, run_state_machine_as_test

from duologue.core.errors import DuologueError
from duologue.ports.store import Lease, OutboxMessage, ServerNode, Store, StoreWrite
from duologue.testing.postgres import PrivatePostgres
from tests.store.store_places import MemoryPlace, Place, PostgresPlace, SqlitePlace

NAMES = st.sampled_from(["one", "two"])
NODES = st.sampled_from(["a", "b"])
TTLS = st.sampled_from([0, 5, 100])
KEYS = st.sampled_from(["pay", "book"])
VALUES = st.sampled_from([None, 1, "words", {"a": [1.5, None]}])
WRITES = st.builds(
    StoreWrite,
    st.dictionaries(st.sampled_from(["machine", "words", "dialogue"]), VALUES, max_size=3),
    st.lists(st.tuples(KEYS, VALUES), max_size=2),
    st.lists(st.builds(OutboxMessage, st.sampled_from(["sms", "mail"]), VALUES), max_size=2),
    st.sampled_from([False, False, False, True]),
)
NODE = st.builds(ServerNode, NODES, st.sampled_from(["first", "second"]), st.just("http://a"), st.integers(0, 3))
WHICH = st.integers(0, 1)  # of the two stores that are open at each place
Ask = Callable[[Store], Awaitable[Any]]
_numbers = itertools.count(1)


class Stores(RuleBasedStateMachine):
    """Every step is asked of all three; what they answer, or raise, must be the same."""

    server: PrivatePostgres
    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory(prefix="duologue-")
        self.postgres = PostgresPlace(self.server, f"agree_{next(_numbers)}")
        self.places: list[Place] = [MemoryPlace(), SqlitePlace(Path(self.folder.name, "store")), self.postgres]
        self.stores = [[self.run(place.store()) for _ in range(2)] for place in self.places]
        self.epochs: set[int] = set()
        self.known: dict[str, int] = {}  # revisions

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.run(self.postgres.run_sql(f"DROP SCHEMA {self.postgres.schema} CASCADE"))
        for place in self.places:
            self.run(place.close())
        self.runner.close()
        self.folder.cleanup()

    def ask(self, which: int, what: Ask) -> Any:
        """What all of them say; None if they refuse."""

        async def answer(store: Store) -> Any:
            try:
                said = await what(store)
            except DuologueError as error:
                return type(error), str(error)
            return list(said) if isinstance(said, list | tuple) else said

        memory, sqlite, postgres = (self.run(answer(pair[which])) for pair in self.stores)
        assert sqlite == memory
        assert postgres == memory
        refused = isinstance(memory, tuple) and isinstance(memory[0], type)
        return None if refused else memory

    # -- Steps

    @rule(
        target=leases,
        which=WHICH,
        name=NAMES,
        node=NODES,
        ttl_ms=TTLS,
        key=st.sampled_from(["", "", "k1", "k2"]),
        force=st.booleans(),
    )
    def claim(self, which: int, name: str, node: str, ttl_ms: int, key: str, force: bool) -> Any:
        got = self.ask(which, lambda store: store.claim(name, node, ttl_ms, key_hash=key, force=force))
        if got is None:
            return multiple()
        lease, kept = got
        assert lease.epoch not in self.epochs
        self.epochs.add(lease.epoch)
        self.known[name] = kept.revision
        return lease

    @rule(which=WHICH, some=st.lists(leases, max_size=4, unique=True), ttl_ms=TTLS)
    def renew(self, which: int, some: list[Lease], ttl_ms: int) -> None:
        self.ask(which, lambda store: store.renew(some, ttl_ms))

    @rule(which=WHICH, lease=leases)
    def release(self, which: int, lease: Lease) -> None:
        self.ask(which, lambda store: store.release(lease))

    @rule(which=WHICH, lease=leases, write=WRITES, off=st.sampled_from([0, 0, 0, 0, -1, 1]), times=st.integers(1, 2))
    def write(self, which: int, lease: Lease, write: StoreWrite, off: int, times: int) -> None:
        revision = self.known.get(lease.conversation, 0) + off
        for _ in range(times):
            got = self.ask(which, lambda store: store.write(lease, revision, write))
            if got is not None:
                assert got == revision + 1
                self.known[lease.conversation] = got

    @rule(which=WHICH, lease=leases, key=KEYS)
    def begin(self, which: int, lease: Lease, key: str) -> None:
        self.ask(which, lambda store: store.begin(lease, key, key.upper()))

    @rule(which=WHICH, lease=leases, key=KEYS, output=VALUES)
    def finish(self, which: int, lease: Lease, key: str, output: Any) -> None:
        self.ask(which, lambda store: store.finish(lease, key, output))

    @rule(which=WHICH, lease=leases, ids=st.lists(st.integers(1, 6), max_size=3))
    def sent(self, which: int, lease: Lease, ids: list[int]) -> None:
        self.ask(which, lambda store: store.sent(lease, ids))

    @rule(which=WHICH, lease=leases, lines=st.lists(st.text(max_size=4), max_size=2))
    def log(self, which: int, lease: Lease, lines: list[str]) -> None:
        self.ask(which, lambda store: store.log(lease, lines))

    @rule(ms=st.sampled_from([1, 5, 99, 100]))
    def advance(self, ms: int) -> None:
        for place in self.places:
            self.run(place.advance(ms))

    @rule(which=WHICH, node=NODE, ttl_ms=TTLS)
    def enlist(self, which: int, node: ServerNode, ttl_ms: int) -> None:
        self.ask(which, lambda store: store.enlist(node, ttl_ms))

    @rule(which=WHICH, node=NODE)
    def leave(self, which: int, node: ServerNode) -> None:
        self.ask(which, lambda store: store.leave(node))

    @rule(which=WHICH, name=NAMES)
    def forget(self, which: int, name: str) -> None:
        self.ask(which, lambda store: store.forget(name))
        self.known[name] = 0

    @rule(which=WHICH, older_than_ms=st.sampled_from([0, 5, 100]))
    def sweep(self, which: int, older_than_ms: int) -> None:
        self.ask(which, lambda store: store.sweep(older_than_ms))

    @invariant()
    def everything_looks_the_same(self) -> None:
        for name in ("one", "two"):
            self.ask(0, lambda store, name=name: store.read(name))
            self.ask(1, lambda store, name=name: store.outbox(name))
            self.ask(0, lambda store, name=name: store.journal(name))
        self.ask(1, lambda store: store.holdings(10))
        self.ask(0, lambda store: store.nodes())
        self.ask(1, lambda store: store.orphans(10))


@pytest.mark.req("D-13", "D-14")
def test_all_three_stores_agree_on_every_sequence_of_operations(postgres: PrivatePostgres) -> None:
    Stores.server = postgres
    run_state_machine_as_test(
        Stores,
        settings=settings(
            max_examples=15, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
