"""Errors of PostgreSQL: one line that says what to do, without a secret."""

from __future__ import annotations

import pytest

from duologue.ports.store import StoreFailed
from duologue.store.postgres import PostgresStore
from duologue.testing.postgres import PrivatePostgres
from tests.store.failed_openings import opening_postgres
from tests.store.lossy_proxy import LossyProxy
from tests.store.store_places import PostgresPlace, claimed


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize(
    ("user", "database", "hint"),
    [
        ("duologue:s3cret", "postgres", "wrong user or password; check them in the address"),
        ("alice:s3cret", "postgres", "wrong user or password; check them in the address"),
        ("duologue", "postgres", "wrong user or password; check them in the address"),
    ],
)
async def test_a_wrong_password_is_reported_without_it(
    postgres: PrivatePostgres, user: str, database: str, hint: str
) -> None:
    message = await opening_postgres(f"postgresql://{user}@127.0.0.1:{postgres.port}/{database}")
    assert message.startswith(f"PostgreSQL at 127.0.0.1:{postgres.port}, database postgres: ")
    assert hint in message


async def test_an_unknown_database_or_user_is_reported(postgres: PrivatePostgres) -> None:
    assert "no such database; create it" in await opening_postgres(postgres.url.replace("/postgres?", "/nowhere?"))
    assert "this user may not connect" in await opening_postgres(postgres.url.replace("duologue@", "alice@"))


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
async def test_a_wrong_address_is_reported_without_it(url: str) -> None:
    message = await opening_postgres(url)
    assert "s3" not in message
    assert "address" in message


async def test_an_unreachable_server_is_reported() -> None:
    async with LossyProxy(0) as proxy:
        proxy.is_shut = True
        port = proxy.port
    message = await opening_postgres(f"postgresql://alice:s3cret@127.0.0.1:{port}/db")
    assert (
        message
        == f"PostgreSQL at 127.0.0.1:{port}, database db: can't be reached; check that the server runs, and the address"
    )
    message = await opening_postgres("postgresql://alice:s3cret@nowhere.invalid/db")
    assert message.startswith("PostgreSQL at nowhere.invalid, database db: ")


async def test_a_user_without_permissions_is_reported(pg: PostgresPlace) -> None:
    await pg.run_sql("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN")
    message = await opening_postgres(pg.server.url.replace("duologue@", "guest@"), schema=pg.schema)
    assert "this user lacks a permission; grant this user access to the schema" in message


async def test_a_read_only_server_is_reported(pg: PostgresPlace) -> None:
    await pg.store()
    store = PostgresStore(pg.server.url + "&options=-cdefault_transaction_read_only%3Don", schema=pg.schema)
    await store.open()
    with pytest.raises(StoreFailed, match="the server is read-only, perhaps a standby"):
        await claimed(store)
    await store.close()


async def test_a_missing_table_is_reported(pg: PostgresPlace) -> None:
    store = await pg.store()
    await pg.run_sql("DROP TABLE parts")
    with pytest.raises(StoreFailed, match="a table is missing"):
        await store.read("call")
