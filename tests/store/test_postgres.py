"""PostgreSQL: lost connections, lost answers, and everything that can be wrong with a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from duologue.ports.store import ActionProgress, OutboxMessage, StoreFailed, StoreWrite, Unsure
from duologue.store import postgres as module
from duologue.store import sql_operations
from duologue.store.postgres import PostgresStore
from duologue.store.sql_store import TransactionKind
from duologue.store.write_content import content_of
from duologue.testing.postgres import PrivatePostgres
from tests.store.failed_openings import opening_postgres
from tests.store.lossy_proxy import LossyProxy
from tests.store.store_places import TTL_MS, PostgresPlace, claimed, written

WRITE = StoreWrite({"words": "hello"}, done=[("pay", "paid")], messages=[OutboxMessage("sms", "hello")])


@asynccontextmanager
async def behind_proxy(pg: PostgresPlace) -> AsyncIterator[tuple[PostgresStore, LossyProxy]]:
    await pg.store()  # makes the schema, with its clock
    async with LossyProxy(pg.server.port) as proxy:
        url = pg.server.tcp_url.replace(f":{pg.server.port}", f":{proxy.port}")
        store = PostgresStore(url, schema=pg.schema, connections_max=1)
        await store.open()
        try:
            yield store, proxy
        finally:
            await store.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAITS_S", (0.0, 0.0))


# -- Lost connections


@pytest.mark.parametrize("moment", ["BEGIN", "UPDATE conversations", "INSERT INTO parts", "COMMIT"])
@pytest.mark.parametrize("arrives", [False, True])
@pytest.mark.req("D-14")
async def test_a_write_whose_connection_is_lost_is_done_once(pg: PostgresPlace, moment: str, arrives: bool) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        (proxy.lose_after if arrives else proxy.lose_before)(moment)
        assert await store.write(lease, 0, WRITE) == 1
        assert proxy.losses == 1
        assert len(await store.outbox("call")) == 1
        assert await written(store, lease, 1, words="on") == 2


@pytest.mark.parametrize("arrives", [False, True])
async def test_a_write_in_one_statement_whose_connection_is_lost_is_done_once(pg: PostgresPlace, arrives: bool) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        (proxy.lose_after if arrives else proxy.lose_before)("WITH fenced")
        assert await written(store, lease, 0, words="hello") == 1
        assert proxy.losses == 1
        kept = await store.read("call")
        assert kept is not None
        assert (kept.revision, dict(kept.parts)) == (1, {"words": "hello"})


@pytest.mark.usefixtures("impatient")
async def test_a_write_in_one_statement_without_an_answer_can_be_retried(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_after("WITH fenced")
        proxy.shuts_after_loss = True
        with pytest.raises(Unsure):
            await written(store, lease, 0, words="hello")
        proxy.is_shut = False
        assert await written(store, lease, 0, words="hello") == 1


@pytest.mark.usefixtures("impatient")
async def test_a_failed_read_has_no_unknown_outcome(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        await claimed(store)
        proxy.lose_after("SELECT epoch")
        proxy.shuts_after_loss = True
        with pytest.raises(StoreFailed) as caught:
            await store.read("call")
        assert not isinstance(caught.value, Unsure)


@pytest.mark.usefixtures("impatient")
@pytest.mark.req("D-14")
async def test_a_server_lost_after_a_commit_leaves_the_outcome_unknown_and_a_retry_is_safe(
    pg: PostgresPlace,
) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_after("COMMIT")
        proxy.shuts_after_loss = True
        with pytest.raises(Unsure, match="the outcome of the write is unknown: retry it unchanged"):
            await store.write(lease, 0, WRITE)
        proxy.is_shut = False
        assert await store.write(lease, 0, WRITE) == 1
        assert len(await store.outbox("call")) == 1


@pytest.mark.usefixtures("impatient")
async def test_a_server_lost_before_a_commit_has_written_nothing(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_before("UPDATE conversations")
        proxy.shuts_after_loss = True
        with pytest.raises(StoreFailed) as caught:
            await store.write(lease, 0, WRITE)
        assert not isinstance(caught.value, Unsure)
        proxy.is_shut = False
        assert await store.write(lease, 0, StoreWrite({"words": "another"})) == 1


async def test_a_later_failure_does_not_deny_what_an_earlier_attempt_may_have_done(
    pg: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STATEMENT_MS_MAX", 500)
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_before("COMMIT")  # the client can't know that it was before
        with psycopg.connect(pg.server.url) as other:
            proxy.on_loss = lambda: other.execute(f"LOCK TABLE {pg.schema}.conversations".encode())
            with pytest.raises(Unsure):
                await store.write(lease, 0, WRITE)
        assert await store.write(lease, 0, WRITE) == 1


@pytest.mark.req("D-14")
async def test_a_caller_that_lost_the_answer_of_begin_still_owns_the_action(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_after("COMMIT")
        assert (await store.begin(lease, "pay", "pay")).progress is ActionProgress.NEW
        assert (await store.begin(lease, "pay", "pay")).progress is ActionProgress.BEGUN


async def test_journal_lines_whose_answer_was_lost_are_not_written_twice(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_after("COMMIT")
        await store.log(lease, ["one"])
        assert list(await store.journal("call")) == ["one"]


async def test_a_claim_whose_answer_was_lost_is_claimed_again(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        proxy.lose_after("COMMIT")
        lease = await claimed(store)
        assert await written(store, lease, 0, words=1) == 1


async def test_a_lost_answer_of_forget_is_reported_as_unknown(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        await claimed(store)
        proxy.lose_after("COMMIT")
        with pytest.raises(Unsure):
            await store.forget("call")
        assert await store.read("call") is None


@pytest.mark.req("D-14")
async def test_a_backend_killed_during_a_transaction_loses_nothing(pg: PostgresPlace) -> None:
    store = await pg.store()
    assert isinstance(store, PostgresStore)
    lease = await claimed(store)
    attempts = 0

    def ended_once() -> sql_operations.Script[int]:
        nonlocal attempts
        attempts += 1
        ((process,),) = yield "SELECT pg_backend_pid()", ()
        revision = yield from sql_operations.write(lease, 0, content_of(WRITE))
        if attempts == 1:
            with psycopg.connect(pg.server.url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", (process,))
        yield "SELECT 1", ()
        return revision

    assert await store.run(ended_once) == 1
    assert attempts == 2
    assert len(await store.outbox("call")) == 1


async def test_a_conversation_cannot_be_claimed_during_its_owners_transaction(pg: PostgresPlace) -> None:
    store = await pg.store()
    assert isinstance(store, PostgresStore)
    lease = await claimed(store)

    def probed() -> sql_operations.Script[bool]:
        yield from sql_operations.begin(sql_operations.POSTGRES, lease, "pay", "pay", "token")
        with psycopg.connect(pg.server.url) as other, pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute(f"SELECT 1 FROM {pg.schema}.conversations FOR UPDATE NOWAIT".encode())
        return True

    assert await store.run(probed)


@pytest.mark.usefixtures("postgres")
@pytest.mark.req("D-13", "D-14")
async def test_a_server_that_crashed_and_is_back_has_everything_that_was_written() -> None:
    with PrivatePostgres(durable=True) as server:
        store = PostgresStore(server.url)
        await store.open()
        lease = await claimed(store)
        for revision in range(20):
            await written(store, lease, revision, words=revision)
        server.kill()
        server.start()
        kept = await store.read("call")
        assert kept is not None
        assert (kept.revision, kept.parts["words"]) == (20, 19)
        assert (await claimed(store)).epoch > lease.epoch
        await store.close()


async def test_a_cancelled_caller_leaves_no_connection_in_a_transaction(pg: PostgresPlace) -> None:
    store = await pg.store()
    assert isinstance(store, PostgresStore)
    begun = asyncio.Event()

    def slow() -> sql_operations.Script[None]:
        yield "SELECT 1", ()
        begun.set()
        yield "SELECT pg_sleep(60)", ()

    task = asyncio.create_task(store.run(slow))
    await begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    lease = await claimed(store)
    assert await written(store, lease, 0, words=1) == 1


@pytest.mark.parametrize(
    ("kind", "error"), [(TransactionKind.TRANSACTION, StoreFailed), (TransactionKind.STATEMENT, Unsure)]
)
async def test_a_server_that_does_not_answer_times_out(
    pg: PostgresPlace, monkeypatch: pytest.MonkeyPatch, kind: TransactionKind, error: type[StoreFailed]
) -> None:
    store = await pg.store()
    assert isinstance(store, PostgresStore)
    monkeypatch.setattr(module, "TRANSACTION_S_MAX", 0.05)

    def slow() -> sql_operations.Script[None]:
        yield "SELECT pg_sleep(60)", ()

    with pytest.raises(StoreFailed) as caught:
        await store.run(slow, kind=kind)
    assert type(caught.value) is error
    monkeypatch.undo()
    await claimed(store)


async def test_a_locked_row_is_reported(pg: PostgresPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STATEMENT_MS_MAX", 500)
    store = await pg.store()
    lease = await claimed(store)
    with psycopg.connect(pg.server.url) as other:
        other.execute(f"SELECT * FROM {pg.schema}.conversations FOR UPDATE".encode())
        with pytest.raises(StoreFailed, match="nothing was written"):
            await written(store, lease, 0, words=1)
    assert await written(store, lease, 0, words=1) == 1


async def test_an_unsafe_schema_name_is_rejected() -> None:
    for schema in ("Robert'); DROP TABLE", "", "a-b", "x" * 64):
        assert "isn't a valid schema name" in await opening_postgres("postgresql://host/db", schema=schema)


async def test_a_damaged_row_affects_only_its_conversation(pg: PostgresPlace) -> None:
    store = await pg.store()
    for name in ("broken", "fine"):
        await written(store, await claimed(store, name), 0, words=1)
    await pg.run_sql("UPDATE parts SET content = '{' WHERE conversation = 'broken'")
    for attempt in (store.read("broken"), store.claim("broken", "a", TTL_MS)):
        with pytest.raises(StoreFailed, match="part 'words' of conversation 'broken' can't be read"):
            await attempt
    assert (await store.claim("fine", "a", TTL_MS))[1].parts == {"words": 1}


async def test_the_servers_clock_is_the_time_of_day(pg: PostgresPlace) -> None:
    store = pg.make()
    await store.open()
    ((off_ms,),) = await pg.run_sql("SELECT abs(now_ms() - extract(epoch FROM now()) * 1000)::bigint")
    assert off_ms < 5_000
    await store.close()
