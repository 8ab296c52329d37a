"""A small pool of connections to PostgreSQL, opened when they are needed.

Unlike psycopg_pool, this pool reports immediately that connecting failed, and why. Rule: a connection that is returned
in the middle of a transaction is closed, not reused. When a connection is lost, the idle connections are closed too,
because their server is most likely no longer there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from duologue.ports.store import StoreFailed

from .postgres_errors import connecting, place

PostgresConnection = psycopg.AsyncConnection[tuple[Any, ...]]
CONNECT_S_MAX = 5
WAIT_S_MAX = 10


class Pool:
    """A pool of at most `connections_max` connections at a time."""

    def __init__(self, address: Mapping[str, Any], settings: Mapping[str, str | int], connections_max: int) -> None:
        assert connections_max >= 1
        self.where = place(address)
        self._address = {
            "connect_timeout": CONNECT_S_MAX,
            "application_name": "duologue",
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 2,
            **address,
        }
        ours = " ".join(f"-c {name}={value}" for name, value in settings.items())
        self._address["options"] = f"{address.get('options') or ''} {ours}".strip()
        self._free = asyncio.Semaphore(connections_max)
        self._idle: list[PostgresConnection] = []
        self._is_closed = False

    async def take(self) -> PostgresConnection:
        """Take a connection from the pool; return it with `give_back`. Raises `StoreFailed` if all connections stay
        busy for `WAIT_S_MAX` seconds, or if connecting fails."""
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                await self._free.acquire()
        except TimeoutError:
            raise StoreFailed(
                f"{self.where}: all connections were busy for {WAIT_S_MAX} s, nothing was written; use a "
                "larger connections_max"
            ) from None
        try:
            if self._is_closed:
                raise StoreFailed(f"{self.where}: the store is closed")
            return self._idle.pop() if self._idle else await self._connect()
        except BaseException:
            self._free.release()
            raise

    async def _connect(self) -> PostgresConnection:
        try:
            return await psycopg.AsyncConnection.connect(autocommit=True, **self._address)
        except psycopg.Error as error:
            raise connecting(error, self.where) from None
        except (UnicodeError, OSError):
            raise StoreFailed(f"{self.where}: can't be reached; check the address") from None

    async def give_back(self, connection: PostgresConnection) -> None:
        """Return a connection to the pool. The connection is closed if it is still in a transaction, or if the pool is
        closed."""
        self._free.release()
        idle = not connection.closed and connection.info.transaction_status is TransactionStatus.IDLE
        if idle and not self._is_closed:
            self._idle.append(connection)
        else:
            await connection.close()

    async def close_idle(self) -> None:
        """Close the connections that aren't in use."""
        idle, self._idle = self._idle, []
        for connection in idle:
            await connection.close()

    async def close(self) -> None:
        """Close the pool. Connections in use are closed when they are given back."""
        self._is_closed = True
        await self.close_idle()
