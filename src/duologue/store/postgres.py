"""A store in PostgreSQL, for any number of nodes. All times come from the database server's clock.

If a connection is lost, its transaction is retried on a new connection. If the connection was lost before the commit,
nothing had been written. If it was lost during the commit, the first attempt may have succeeded; then the retry finds
what was written and returns as usual. Rule: a lost connection leads to an error only if the retries fail too, or if the
transaction must not run twice. The error says either that nothing was written, or that the outcome is unknown.
"""

from __future__ import annotations

import asyncio
import functools
import re
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import psycopg
import psycopg.sql

from duologue.core.errors import DuologueError
from duologue.fairness.counted_pools import show
from duologue.ports.store import Lease, StoreFailed, Unsure

from . import sql_operations
from .postgres_errors import AGAIN, CantConnect, read_address, running
from .postgres_pool import Pool, PostgresConnection
from .schema import STEPS, MigrationStep, missing
from .sql_operations import POSTGRES, Script
from .sql_store import SqlStore, TransactionKind
from .write_content import Content

T = TypeVar("T")
WAITS_S = (0.0, 0.1, 0.4, 1.0)  # how long to wait before each retry
STATEMENT_MS_MAX = 5_000
TRANSACTION_S_MAX = 10.0
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = %s ORDER BY tablename"
_CONTAINS = psycopg.sql.SQL(
    "SELECT 1 FROM {} AS line, jsonb_each_text(to_jsonb(line)) AS cell(name, value), unnest(%s::text[]) AS wanted "
    "WHERE position(wanted IN cell.value) > 0 LIMIT 1"
)
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class _Lost(Exception):
    """The connection was lost, or two transactions were in conflict. If `may_be_done` is true, the connection was lost
    during the commit, so the transaction may have been committed."""

    def __init__(self, may_be_done: bool) -> None:
        self.may_be_done = may_be_done


class PostgresStore(SqlStore):
    """A store in PostgreSQL. `schema` is the name of the database schema that contains the tables. `open` creates this
    schema if it doesn't exist."""

    dialect = POSTGRES

    def __init__(
        self, url: str, *, schema: str = "duologue", connections_max: int = 4, steps: Sequence[MigrationStep] = STEPS
    ) -> None:
        if not _SCHEMA.fullmatch(schema):
            raise StoreFailed(f"{schema!r:.80} isn't a valid schema name: use lower-case letters, digits and _")
        self.schema, self._steps = schema, steps
        settings: dict[str, str | int] = {
            "search_path": schema,
            "statement_timeout": STATEMENT_MS_MAX,
            "lock_timeout": STATEMENT_MS_MAX,
            "idle_in_transaction_session_timeout": 2 * STATEMENT_MS_MAX,
        }
        self._pool = Pool(read_address(url), settings, connections_max)

    async def open(self) -> None:
        """Connect to the database, and bring the schema up to date."""
        show(self._pool)
        connection = await self._pool.take()
        try:
            await self._migrate(connection)
        except psycopg.Error as error:
            raise running(error, self._pool.where) from None
        finally:
            await self._pool.give_back(connection)

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    async def write_content(self, lease: Lease, revision: int, content: Content) -> int:
        if content.has_parts_only:
            return await self.run(
                lambda: sql_operations.write_at_once(lease, revision, content),
                conversation=lease.conversation,
                kind=TransactionKind.STATEMENT,
            )
        return await super().write_content(lease, revision, content)

    async def run(
        self,
        make: Callable[[], Script[T]],
        *,
        conversation: str = "",
        again: bool = True,
        kind: TransactionKind = TransactionKind.TRANSACTION,
    ) -> T:
        may_be_done = False
        for wait_s in (*WAITS_S, None):
            try:
                return await self._attempt(make, kind, conversation)
            except _Lost as lost:
                may_be_done = may_be_done or lost.may_be_done
                if wait_s is None or (may_be_done and not again):
                    break
            except StoreFailed as failed:
                is_final = not isinstance(failed, CantConnect) or failed.is_permanent
                if is_final or wait_s is None:
                    if may_be_done:  # an earlier attempt may have succeeded
                        break
                    raise
            await asyncio.sleep(wait_s or 0)
        if may_be_done:
            raise self._unsure()
        raise StoreFailed(
            f"{self._pool.where}: the connection was lost repeatedly, nothing was written; check the database server"
        )

    async def _attempt(self, make: Callable[[], Script[T]], kind: TransactionKind, conversation: str) -> T:
        connection = await self._pool.take(conversation)
        attempt = _Attempt(connection)
        try:
            async with asyncio.timeout(TRANSACTION_S_MAX):
                return await attempt.perform(make(), kind)
        except psycopg.Error as error:
            if error.sqlstate in AGAIN:
                raise _Lost(False) from None
            if connection.closed:
                raise _Lost(attempt.is_committing) from None
            raise running(error, self._pool.where) from None
        except TimeoutError:  # no retry, because it would take as long
            await connection.close()
            if attempt.is_committing:
                raise self._unsure() from None
            raise StoreFailed(
                f"{self._pool.where}: no answer for {TRANSACTION_S_MAX:.0f} s, nothing was written; try again"
            ) from None
        finally:
            if connection.closed:
                await self._pool.close_idle()
            await self._pool.give_back(connection)

    async def tables_with(self, texts: Sequence[str]) -> list[str]:
        """The tables of the schema that contain at least one of these texts, in any column of any row. This may take
        long in a large database."""
        connection = await self._pool.take()
        try:
            async with connection.transaction():
                await connection.execute("SET LOCAL statement_timeout = 0")
                listed = await connection.execute(_TABLES, (self.schema,))
                names = [name for (name,) in await listed.fetchall()]
                return [name for name in names if await self._contains(connection, name, texts)]
        except psycopg.Error as error:
            raise running(error, self._pool.where) from None
        finally:
            await self._pool.give_back(connection)

    async def _contains(self, connection: PostgresConnection, table: str, texts: Sequence[str]) -> bool:
        query = _CONTAINS.format(psycopg.sql.Identifier(self.schema, table))
        return await (await connection.execute(query, (list(texts),))).fetchone() is not None

    def _unsure(self) -> Unsure:
        return Unsure(
            f"{self._pool.where}: the answer was lost, so the outcome of the write is unknown: retry it unchanged"
        )

    # -- The schema

    async def _migrate(self, connection: PostgresConnection) -> None:
        """Apply the missing migration steps in one transaction. If several nodes start at the same time, they do this
        one after the other."""
        async with connection.transaction():
            number = zlib.crc32(f"duologue {self.schema}".encode())
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (number,))
            found = await self._version(connection)
            for step in missing(found, self._steps, f"{self._pool.where}, schema {self.schema},"):
                for statement in step.postgres:
                    await connection.execute(statement.encode())
                await connection.execute("INSERT INTO schema_versions VALUES (%s, now_ms())", (step.version,))

    async def _version(self, connection: PostgresConnection) -> int:
        known = await connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (self.schema,))
        if not await known.fetchone():
            await connection.execute(f"CREATE SCHEMA {self.schema}".encode())
        known = await connection.execute("SELECT to_regclass(%s)", (f"{self.schema}.schema_versions",))
        if await known.fetchone() == (None,):
            await connection.execute(
                "CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, applied_ms BIGINT NOT NULL)"
            )
        newest = await connection.execute("SELECT coalesce(max(version), 0) FROM schema_versions")
        row = await newest.fetchone()
        assert row is not None
        return int(row[0])


class _Attempt:
    """One attempt to run a script on a connection. If the attempt fails, `is_committing` says whether the script's
    changes may have been committed."""

    def __init__(self, connection: PostgresConnection) -> None:
        self.connection = connection
        self.is_committing = False

    async def perform(self, script: Script[T], kind: TransactionKind) -> T:
        if kind is TransactionKind.TRANSACTION:
            return await self._transact(script)
        self.is_committing = kind is TransactionKind.STATEMENT  # a single statement commits itself
        return await self._drive(script)

    async def _transact(self, script: Script[T]) -> T:
        await self.connection.execute("BEGIN")
        try:
            result = await self._drive(script)
        except DuologueError:
            await self.connection.execute("ROLLBACK")
            raise
        self.is_committing = True
        await self.connection.execute("COMMIT")
        return result

    async def _drive(self, script: Script[T]) -> T:
        try:
            sql, values = next(script)
            while True:
                cursor = await self.connection.execute(_translated(sql), values)
                rows = await cursor.fetchall() if cursor.description else ()
                sql, values = script.send(rows)
        except StopIteration as stop:
            result: T = stop.value
            return result


@functools.lru_cache(maxsize=512)
def _translated(sql: str) -> bytes:
    """The SQL statement as bytes, with psycopg's placeholder %s instead of each ?."""
    return sql.replace("?", "%s").encode()
