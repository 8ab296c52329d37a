"""The schema: stores apply missing steps together or not at all, and reject a newer version."""

from __future__ import annotations

import asyncio

import pytest

from duologue.ports.store import StoreFailed
from duologue.store.postgres import PostgresStore
from duologue.store.schema import STEPS, TABLES, MigrationStep, missing
from duologue.store.sqlite import SqliteStore
from tests.store.failed_openings import opening, opening_postgres
from tests.store.store_places import PostgresPlace, SqlitePlace, claimed, written

MORE = (
    *STEPS,
    MigrationStep(2, ["ALTER TABLE parts ADD COLUMN extra TEXT"], ["ALTER TABLE parts ADD COLUMN extra TEXT"]),
    MigrationStep(3, ["CREATE TABLE three (x)"], ["CREATE TABLE three ()"]),
)


def test_only_the_steps_that_a_store_lacks_are_missing() -> None:
    assert [step.version for step in missing(0, MORE, "here")] == [1, 2, 3]
    assert [step.version for step in missing(2, MORE, "here")] == [3]
    assert not missing(3, MORE, "here")


async def test_every_table_of_sqlite_with_conversations_is_in_the_list(sqlite: SqlitePlace) -> None:
    await sqlite.store()
    tables = await sqlite.run_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    found = set()
    for (table,) in tables:
        columns = await sqlite.run_sql(f"SELECT name FROM pragma_table_info('{table}')")
        if ("conversation",) in columns:
            found.add(table)
    assert found == set(TABLES)


@pytest.mark.req("D-13")
async def test_an_older_file_is_upgraded_and_keeps_its_data(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    await written(store, await claimed(store), 0, words=1)
    newer = SqliteStore(sqlite.path, steps=MORE)
    await newer.open()
    kept = await newer.read("call")
    assert kept is not None
    assert dict(kept.parts) == {"words": 1}
    await newer.close()
    assert await sqlite.run_sql("SELECT version FROM schema_versions") == [(1,), (2,), (3,)]


@pytest.mark.req("D-13")
async def test_a_newer_file_is_rejected_with_both_versions(sqlite: SqlitePlace) -> None:
    newer = SqliteStore(sqlite.path, steps=MORE)
    await newer.open()
    await newer.close()
    message = await opening(SqliteStore(sqlite.path))
    assert "has schema version 3, but this version of Duologue supports at most 1: upgrade Duologue" in message


@pytest.mark.req("D-13")
async def test_sqlite_takes_all_steps_or_none(sqlite: SqlitePlace) -> None:
    await sqlite.store()
    broken = (*MORE, MigrationStep(4, ["CREATE TABLE four (x)", "ALTER TABLE nowhere ADD COLUMN x"], []))
    await opening(SqliteStore(sqlite.path, steps=broken))
    assert await sqlite.run_sql("SELECT max(version) FROM schema_versions") == [(1,)]
    assert await sqlite.run_sql("SELECT name FROM sqlite_master WHERE name IN ('three', 'four')") == []


async def test_every_table_of_postgresql_with_conversations_is_in_the_list(pg: PostgresPlace) -> None:
    await pg.store()
    found = await pg.run_sql(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'conversation' "
        f"AND table_schema = '{pg.schema}'"
    )
    assert {table for (table,) in found} == set(TABLES)


@pytest.mark.req("D-13")
async def test_nodes_that_start_together_create_the_schema_once(pg: PostgresPlace) -> None:
    stores = [PostgresStore(pg.server.url, schema=pg.schema, steps=MORE) for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    assert await pg.run_sql("SELECT version FROM schema_versions ORDER BY 1") == [(1,), (2,), (3,)]
    for store in stores:
        await store.close()


@pytest.mark.req("D-13")
async def test_a_newer_schema_is_rejected_with_both_versions(pg: PostgresPlace) -> None:
    newer = PostgresStore(pg.server.url, schema=pg.schema, steps=MORE)
    await newer.open()
    await newer.close()
    assert "has schema version 3, but this version of Duologue supports at most 1" in await opening_postgres(
        pg.server.url, schema=pg.schema
    )


@pytest.mark.req("D-13")
async def test_postgresql_takes_all_steps_or_none(pg: PostgresPlace) -> None:
    await pg.store()
    broken = (*MORE, MigrationStep(4, [], ["CREATE TABLE four ()", "ALTER TABLE nowhere ADD COLUMN x TEXT"]))
    with pytest.raises(StoreFailed):
        await PostgresStore(pg.server.url, schema=pg.schema, steps=broken).open()
    assert await pg.run_sql("SELECT max(version) FROM schema_versions") == [(1,)]
    assert await pg.run_sql(f"SELECT to_regclass('{pg.schema}.three')") == [(None,)]
