"""The thread of SQLite: commits are shared and flushed, errors aren't shared, the event loop never waits."""

from __future__ import annotations

import asyncio
import sqlite3

from duologue.fairness.counted_pools import PoolCounts, all_counts
from duologue.ports.store import Fenced, StoreFailed
from duologue.store.sqlite import SqliteStore
from tests.store.store_places import SqlitePlace, claimed, written


async def test_every_commit_is_flushed_and_the_event_loop_never_waits(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    assert isinstance(store, SqliteStore)

    def settings(connection: sqlite3.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "secure_delete")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await store.with_connection(settings) == ["wal", 2, 1]
    # Another process keeps the file locked; meanwhile the loop does something else.
    blocker = sqlite3.connect(sqlite.path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(claimed(store))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not writing.done()
    blocker.execute("COMMIT")
    blocker.close()
    assert (await writing).conversation == "call"


async def test_scripts_that_wait_together_share_a_commit_but_not_their_errors(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    assert isinstance(store, SqliteStore)
    leases = [await claimed(store, f"call {n}") for n in range(40)]
    before = store.commits
    outcomes = await asyncio.gather(
        *(written(store, lease, n % 2, machine=n) for n, lease in enumerate(leases)), return_exceptions=True
    )
    assert outcomes[::2] == [1] * 20
    assert all(isinstance(outcome, Fenced) for outcome in outcomes[1::2])
    assert store.commits - before < 40


async def test_work_that_waits_for_the_disk_is_counted_until_the_store_is_closed(sqlite: SqlitePlace) -> None:
    others = all_counts().get("store")  # stores that other tests of this process have left open
    store = await sqlite.store()
    await claimed(store)
    blocker = sqlite3.connect(sqlite.path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    before = all_counts()["store"]
    writing = [asyncio.create_task(claimed(store, f"call {number}")) for number in range(5)]
    while (now := all_counts()["store"]).running + now.waiting < 5:
        await asyncio.sleep(0)
    blocker.execute("COMMIT")
    blocker.close()
    await asyncio.gather(*writing)
    assert all_counts()["store"] == PoolCounts(done=before.done + 5)
    await store.close()
    assert all_counts().get("store") == others


async def test_a_full_disk_is_reported_and_the_store_recovers(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    assert isinstance(store, SqliteStore)
    lease = await claimed(store)
    others = [await claimed(store, f"small {n}") for n in range(5)]
    await written(store, lease, 0, words="before")
    pages = await store.with_connection(lambda link: link.execute("PRAGMA page_count").fetchone()[0])
    await store.with_connection(lambda link: link.execute(f"PRAGMA max_page_count = {pages + 2}").fetchall())
    large, *small = await asyncio.gather(
        written(store, lease, 1, words="x" * 100_000),
        *(written(store, other, 0, machine=1) for other in others),
        return_exceptions=True,
    )
    assert isinstance(large, StoreFailed)
    assert "the disk is full, nothing was written; free some space" in str(large)
    assert small == [1] * 5  # they fit, and waited beside one that didn't
    kept = await store.read("call")
    assert kept is not None
    assert (kept.revision, kept.parts["words"]) == (1, "before")
    await store.with_connection(lambda link: link.execute("PRAGMA max_page_count = 1073741823").fetchall())
    assert await written(store, lease, 1, words="x" * 100_000) == 2
