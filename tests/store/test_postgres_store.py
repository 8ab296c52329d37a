"""PostgreSQL: lost connections, lost answers, and everything that can be wrong with a server."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from duologue.ports.store import ActionProgress, OutboxMessage, StoreFailed, StoreWrite, Unsure
from duologue.store import postgres as module
from duologue.store import sql_operations
from duologue.store.postgres import PostgresStore
from duologue.store.schema import STEPS, TABLES, MigrationStep
from duologue.store.sql_store import TransactionKind
from duologue.store.write_content import content_of
from duologue.testing.postgres import PrivatePostgres
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
async def test_a_write_in_one_statement_that_stays_unanswered_may_be_asked_again(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_after("WITH fenced")
        proxy.shuts_after_loss = True
        with pytest.raises(Unsure):
            await written(store, lease, 0, words="hello")
        proxy.is_shut = False
        assert await written(store, lease, 0, words="hello") == 1


@pytest.mark.usefixtures("impatient")
async def test_a_reading_that_fails_is_not_unsure_of_anything(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        await claimed(store)
        proxy.lose_after("SELECT epoch")
        proxy.shuts_after_loss = True
        with pytest.raises(StoreFailed) as told:
            await store.read("call")
        assert not isinstance(told.value, Unsure)


@pytest.mark.usefixtures("impatient")
@pytest.mark.req("D-14")
async def test_when_the_server_stays_away_after_a_commit_the_outcome_is_unknown_and_asking_again_is_safe(
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
async def test_when_it_stays_away_before_a_commit_nothing_was_written(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_before("UPDATE conversations")
        proxy.shuts_after_loss = True
        with pytest.raises(StoreFailed) as told:
            await store.write(lease, 0, WRITE)
        assert not isinstance(told.value, Unsure)
        proxy.is_shut = False
        assert await store.write(lease, 0, StoreWrite({"words": "another"})) == 1


async def test_what_an_earlier_attempt_may_have_done_is_not_denied_by_a_later_one(
    pg: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STATEMENT_MS_MAX", 500)
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_before("COMMIT")  # nobody knows that it was before
        with psycopg.connect(pg.server.url) as other:
            proxy.on_loss = lambda: other.execute(f"LOCK TABLE {pg.schema}.conversations".encode())
            with pytest.raises(Unsure):
                await store.write(lease, 0, WRITE)
        assert await store.write(lease, 0, WRITE) == 1


@pytest.mark.req("D-14")
async def test_whoever_began_an_action_and_lost_the_answer_is_still_the_one_that_began(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        lease = await claimed(store)
        proxy.lose_after("COMMIT")
        assert (await store.begin(lease, "pay", "pay")).progress is ActionProgress.NEW
        assert (await store.begin(lease, "pay", "pay")).progress is ActionProgress.BEGUN


async def test_lines_whose_answer_was_lost_are_not_written_twice(pg: PostgresPlace) -> None:
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


async def test_whether_something_was_forgotten_is_not_guessed(pg: PostgresPlace) -> None:
    async with behind_proxy(pg) as (store, proxy):
        await claimed(store)
        proxy.lose_after("COMMIT")
        with pytest.raises(Unsure):
            await store.forget("call")
        assert await store.read("call") is None


@pytest.mark.req("D-14")
async def test_a_backend_that_is_ended_in_mid_transaction_costs_nothing(pg: PostgresPlace) -> None:
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


async def test_nobody_claims_a_conversation_in_the_middle_of_its_owners_transaction(pg: PostgresPlace) -> None:
    store = await pg.store()
    assert isinstance(store, PostgresStore)
    lease = await claimed(store)

    def probed() -> sql_operations.Script[bool]:
        yield from sql_operations.begin(sql_operations.POSTGRES, lease, "pay", "pay", "token")
        with psycopg.connect(pg.server.url) as other, pytest.raises(psycopg.errors.LockNotAvailable):
            other.execute(f"SELECT 1 FROM {pg.schema}.conversations FOR UPDATE NOWAIT".encode())
        return True

    assert await store.run(probed)


async def test_connections_that_were_ended_while_idle_are_replaced(pg: PostgresPlace) -> None:
    store = await pg.store()
    lease = await claimed(store)
    await asyncio.gather(*(store.read("call") for _ in range(10)))
    await pg.run_sql(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE application_name = 'duologue' AND pid <> pg_backend_pid()"
    )
    assert await written(store, lease, 0, words=1) == 1


@pytest.mark.usefixtures("postgres")  # which skips where there is none
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


async def test_a_caller_that_gives_up_leaves_no_connection_in_the_middle_of_something(pg: PostgresPlace) -> None:
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
async def test_a_server_that_does_not_answer_is_given_up(
    pg: PostgresPlace, monkeypatch: pytest.MonkeyPatch, kind: TransactionKind, error: type[StoreFailed]
) -> None:
    store = await pg.store()
    assert isinstance(store, PostgresStore)
    monkeypatch.setattr(module, "TRANSACTION_S_MAX", 0.05)

    def slow() -> sql_operations.Script[None]:
        yield "SELECT pg_sleep(60)", ()

    with pytest.raises(StoreFailed) as told:
        await store.run(slow, kind=kind)
    assert type(told.value) is error
    monkeypatch.undo()
    await claimed(store)


async def test_no_more_connections_are_made_than_allowed(pg: PostgresPlace) -> None:
    await pg.store()
    url = pg.server.url + "&application_name=counted"
    store = PostgresStore(url, schema=pg.schema, connections_max=3)
    await store.open()
    await asyncio.gather(*(claimed(store, f"call {number}") for number in range(30)))
    found = await pg.run_sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'counted'")
    assert 1 <= found[0][0] <= 3
    await store.close()
    with pytest.raises(StoreFailed, match="the store is closed"):
        await store.read("call")


async def test_a_row_that_somebody_keeps_locked_is_told(pg: PostgresPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STATEMENT_MS_MAX", 500)
    store = await pg.store()
    lease = await claimed(store)
    with psycopg.connect(pg.server.url) as other:
        other.execute(f"SELECT * FROM {pg.schema}.conversations FOR UPDATE".encode())
        with pytest.raises(StoreFailed, match="nothing was written"):
            await written(store, lease, 0, words=1)
    assert await written(store, lease, 0, words=1) == 1


# -- Servers that can't be used


async def opening(url: str, **how: str) -> str:
    """What it says when it can't be opened: one line, and nothing of the password or the user."""

    async def attempt() -> None:
        await PostgresStore(url, **how).open()  # type: ignore[arg-type]

    with pytest.raises(StoreFailed) as told:
        await attempt()
    whole = "".join(traceback.format_exception(told.value, chain=True))
    message = str(told.value)
    assert "\n" not in message
    for secret in ("s3cret", "alice"):
        assert secret not in message
        assert secret not in "".join(line for line in whole.splitlines() if not line.startswith("    "))
    return message


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize(
    ("user", "database", "told"),
    [
        ("duologue:s3cret", "postgres", "wrong user or password; check them in the address"),
        ("alice:s3cret", "postgres", "wrong user or password; check them in the address"),
        ("duologue", "postgres", "wrong user or password; check them in the address"),
    ],
)
async def test_a_refused_password_is_told_without_it(
    postgres: PrivatePostgres, user: str, database: str, told: str
) -> None:
    message = await opening(f"postgresql://{user}@127.0.0.1:{postgres.port}/{database}")
    assert message.startswith(f"PostgreSQL at 127.0.0.1:{postgres.port}, database postgres: ")
    assert told in message


async def test_a_database_or_a_user_that_does_not_exist_is_told(postgres: PrivatePostgres) -> None:
    assert "no such database; create it" in await opening(postgres.url.replace("/postgres?", "/nowhere?"))
    assert "this user may not connect" in await opening(postgres.url.replace("duologue@", "alice@"))


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://alice:s3cret@host/db?nonsense=1",
        "postgresql://alice:s3 cret@host/db",
        "postgresql://alice:s3cret@[host/db",
        "postgresql://alice:s3cret@127.0.0.1:port/db",
        "postgresql://alice:%zzs3cret@host/db",
        "postgresql://alice:s3cret%00@127.0.0.1/db",
    ],
)
async def test_a_wrong_address_is_told_without_it(url: str) -> None:
    message = await opening(url)
    assert "s3" not in message
    assert "address" in message


async def test_a_server_that_can_not_be_reached_is_told() -> None:
    async with LossyProxy(0) as proxy:
        proxy.is_shut = True
        port = proxy.port
    message = await opening(f"postgresql://alice:s3cret@127.0.0.1:{port}/db")
    assert (
        message
        == f"PostgreSQL at 127.0.0.1:{port}, database db: can't be reached; check that the server runs, and the address"
    )
    message = await opening("postgresql://alice:s3cret@nowhere.invalid/db")
    assert message.startswith("PostgreSQL at nowhere.invalid, database db: ")


async def test_a_schema_has_a_plain_name() -> None:
    for schema in ("Robert'); DROP TABLE", "", "a-b", "x" * 64):
        assert "isn't a valid schema name" in await opening("postgresql://host/db", schema=schema)


async def test_a_user_who_may_not_make_the_tables_is_told(pg: PostgresPlace) -> None:
    await pg.run_sql("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN")
    message = await opening(pg.server.url.replace("duologue@", "guest@"), schema=pg.schema)
    assert "this user lacks a permission; grant it the schema" in message


async def test_a_server_that_is_read_only_is_told(pg: PostgresPlace) -> None:
    await pg.store()
    store = PostgresStore(pg.server.url + "&options=-cdefault_transaction_read_only%3Don", schema=pg.schema)
    await store.open()
    with pytest.raises(StoreFailed, match="the server is read-only, perhaps a standby"):
        await claimed(store)
    await store.close()


async def test_a_table_that_is_gone_is_told(pg: PostgresPlace) -> None:
    store = await pg.store()
    await pg.run_sql("DROP TABLE parts")
    with pytest.raises(StoreFailed, match="a table is missing"):
        await store.read("call")


async def test_a_damaged_row_is_an_error_of_its_conversation_alone(pg: PostgresPlace) -> None:
    store = await pg.store()
    for name in ("broken", "fine"):
        await written(store, await claimed(store, name), 0, words=1)
    await pg.run_sql("UPDATE parts SET content = '{' WHERE conversation = 'broken'")
    for attempt in (store.read("broken"), store.claim("broken", "a", TTL_MS)):
        with pytest.raises(StoreFailed, match="part 'words' of conversation 'broken' can't be read"):
            await attempt
    assert (await store.claim("fine", "a", TTL_MS))[1].parts == {"words": 1}


# -- Versions and tables

MORE = (
    *STEPS,
    MigrationStep(2, [], ["ALTER TABLE parts ADD COLUMN extra TEXT"]),
    MigrationStep(3, [], ["CREATE TABLE three ()"]),
)


async def test_every_table_that_knows_conversations_is_forgotten_from(pg: PostgresPlace) -> None:
    await pg.store()
    found = await pg.run_sql(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'conversation' "
        f"AND table_schema = '{pg.schema}'"
    )
    assert {table for (table,) in found} == set(TABLES)


@pytest.mark.req("D-13")
async def test_nodes_that_start_together_make_the_schema_once(pg: PostgresPlace) -> None:
    stores = [PostgresStore(pg.server.url, schema=pg.schema, steps=MORE) for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    assert await pg.run_sql("SELECT version FROM schema_versions ORDER BY 1") == [(1,), (2,), (3,)]
    for store in stores:
        await store.close()


@pytest.mark.req("D-13")
async def test_a_newer_schema_is_refused_with_both_versions(pg: PostgresPlace) -> None:
    newer = PostgresStore(pg.server.url, schema=pg.schema, steps=MORE)
    await newer.open()
    await newer.close()
    assert "has schema version 3, but this Duologue supports up to 1" in await opening(pg.server.url, schema=pg.schema)


@pytest.mark.req("D-13")
async def test_steps_are_taken_all_or_none(pg: PostgresPlace) -> None:
    await pg.store()
    broken = (*MORE, MigrationStep(4, [], ["CREATE TABLE four ()", "ALTER TABLE nowhere ADD COLUMN x TEXT"]))
    with pytest.raises(StoreFailed):
        await PostgresStore(pg.server.url, schema=pg.schema, steps=broken).open()
    assert await pg.run_sql("SELECT max(version) FROM schema_versions") == [(1,)]
    assert await pg.run_sql(f"SELECT to_regclass('{pg.schema}.three')") == [(None,)]


async def test_the_servers_clock_is_the_time_of_day(pg: PostgresPlace) -> None:
    store = pg.make()
    await store.open()
    ((off_ms,),) = await pg.run_sql("SELECT abs(now_ms() - extract(epoch FROM now()) * 1000)::bigint")
    assert off_ms < 5_000
    await store.close()


# -- The private server


@pytest.mark.usefixtures("postgres")
def test_a_private_server_leaves_nothing_behind() -> None:
    with PrivatePostgres() as server:
        folder, process = server._folder, server._process
        assert process
        with psycopg.connect(server.tcp_url) as link:
            assert link.execute("SELECT 1").fetchone() == (1,)
    assert process.returncode is not None
    assert not folder.exists()
