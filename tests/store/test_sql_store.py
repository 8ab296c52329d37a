"""The store above the databases: large requests are split, arguments are checked before a script runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from duologue.core.errors import DuologueError
from duologue.ports.store import Lease, StoreFailed, StoreWrite
from duologue.store.sql_operations import RENEWED_AT_ONCE, SQLITE, SWEPT_AT_ONCE, Script
from duologue.store.sql_store import SqlStore, TransactionKind

T = TypeVar("T")


class Recording(SqlStore):
    """Runs each script with prepared rows for its first statements, and records the statements."""

    dialect = SQLITE

    def __init__(self, *rows: list[tuple[Any, ...]]) -> None:
        self.rows = list(rows)
        self.statements: list[str] = []
        self.conversations: list[str] = []
        self.retried: list[bool] = []
        self.kinds: list[TransactionKind] = []

    async def run(
        self,
        make: Callable[[], Script[T]],
        *,
        conversation: str = "",
        again: bool = True,
        kind: TransactionKind = TransactionKind.TRANSACTION,
    ) -> T:
        self.conversations.append(conversation)
        self.retried.append(again)
        self.kinds.append(kind)
        script = make()
        try:
            sql, _ = next(script)
            while True:
                self.statements.append(sql)
                sql, _ = script.send(self.rows.pop(0) if self.rows else [])
        except StopIteration as stop:
            result: T = stop.value
            return result


async def test_many_leases_are_renewed_in_several_statements() -> None:
    store = Recording()
    leases = [Lease(f"call {number}", "a", 1) for number in range(RENEWED_AT_ONCE + 1)]
    assert await store.renew(leases, 1_000) == leases, "no row was returned, so all are lost"
    assert len(store.statements) == 2


async def test_a_sweep_goes_on_until_a_batch_is_not_full() -> None:
    full = [(f"call {number}",) for number in range(SWEPT_AT_ONCE)]
    store = Recording([], full, [], [], [], [], [], full[:3])
    assert await store.sweep(1_000) == SWEPT_AT_ONCE + 3
    assert store.retried == [False, False], "what was deleted can't be counted again"


async def test_a_reading_runs_outside_a_transaction() -> None:
    store = Recording()
    assert await store.read("call") is None
    assert store.kinds == [TransactionKind.READING]


async def test_arguments_are_checked_before_a_script_runs() -> None:
    store, lease = Recording(), Lease("call", "a", 1)
    for attempt in (
        store.read(""),
        store.claim("call", "\n", 1_000),
        store.claim("call", "a", -1),
        store.write(lease, 0, StoreWrite({"a": object()})),
        store.finish(lease, "k", float("nan")),
    ):
        with pytest.raises(StoreFailed):
            await attempt
    assert store.statements == []


async def test_each_script_names_its_conversation_so_that_conversations_can_take_turns() -> None:
    store, lease = Recording(), Lease("call", "a", 1)
    for work in (
        store.claim("call", "a", 1_000),
        store.release(lease),
        store.write(lease, 0, StoreWrite({"words": 1})),
        store.read("call"),
        store.begin(lease, "pay", "pay"),
        store.finish(lease, "pay", "done"),
        store.outbox("call"),
        store.sent(lease, [1]),
        store.log(lease, ["line"]),
        store.journal("call"),
        store.forget("call"),
    ):
        try:
            await work
        except (DuologueError, IndexError, ValueError, TypeError):
            continue  # the rows are made up; only the script counts
    assert store.conversations == ["call"] * 11
    store.conversations.clear()
    await store.renew([lease], 1_000)
    assert store.conversations == [""], "one write of the node, for all its conversations"
