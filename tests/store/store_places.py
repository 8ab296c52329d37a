"""A place holds one database: all stores that are opened there share its conversations and its clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import psycopg

from duologue.ports.store import Lease, Store, StoreWrite
from duologue.store.memory import MemoryStore
from duologue.store.postgres import PostgresStore
from duologue.store.sqlite import SqliteStore
from duologue.testing.postgres import PrivatePostgres

KINDS = ("memory", "sqlite", "postgres")
TTL_MS = 10_000


class Place(ABC):
    """`await place.store()` opens a store; all of them are closed after the test."""

    def __init__(self) -> None:
        self.now_ms = 1_000_000
        self._open: list[Store] = []

    async def store(self) -> Store:
        store = self.make()
        await store.open()
        self._open.append(store)
        await self.set_clock()
        return store

    @abstractmethod
    def make(self) -> Store: ...

    async def set_clock(self) -> None:
        """Set the clock of a database that doesn't read `now_ms`."""
        return

    async def advance(self, ms: int) -> None:
        self.now_ms += ms
        await self.set_clock()

    @abstractmethod
    async def run_sql(self, sql: str) -> list[tuple[Any, ...]]:
        """Run SQL directly, without the store."""

    async def close(self) -> None:
        for store in self._open:
            await store.close()


class MemoryPlace(Place):
    def __init__(self) -> None:
        super().__init__()
        self._store = MemoryStore(lambda: self.now_ms)

    def make(self) -> Store:
        return self._store

    async def run_sql(self, sql: str) -> list[tuple[Any, ...]]:
        raise AssertionError("the store in memory has no SQL")


class SqlitePlace(Place):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def make(self) -> SqliteStore:
        return SqliteStore(self.path, clock=lambda: self.now_ms)

    async def run_sql(self, sql: str) -> list[tuple[Any, ...]]:
        import sqlite3

        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


class PostgresPlace(Place):
    """Its own schema, with a clock that a test sets."""

    def __init__(self, server: PrivatePostgres, schema: str) -> None:
        super().__init__()
        self.server, self.schema = server, schema

    def make(self) -> PostgresStore:
        return PostgresStore(self.server.url, schema=self.schema)

    async def set_clock(self) -> None:
        await self.run_sql(
            "CREATE OR REPLACE FUNCTION now_ms() RETURNS BIGINT LANGUAGE SQL VOLATILE AS "
            f"'SELECT {self.now_ms}::bigint'"
        )

    async def run_sql(self, sql: str) -> list[tuple[Any, ...]]:
        options = f"-c search_path={self.schema}"
        async with await psycopg.AsyncConnection.connect(self.server.url, autocommit=True, options=options) as link:
            cursor = await link.execute(sql.encode())
            return await cursor.fetchall() if cursor.description else []


async def claimed(store: Store, conversation: str = "call", node: str = "a", **how: Any) -> Lease:
    lease, _ = await store.claim(conversation, node, TTL_MS, **how)
    return lease


async def written(store: Store, lease: Lease, revision: int, **parts: Any) -> int:
    return await store.write(lease, revision, StoreWrite(parts))
