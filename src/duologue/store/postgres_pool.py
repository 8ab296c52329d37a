"""A small pool of connections to PostgreSQL, opened when they are needed.

Unlike psycopg_pool, this pool reports immediately that connecting failed, and why. Rule: a connection that is returned
in the middle of a transaction is closed, not reused. When a connection is lost, the idle connections are closed too,
because their server is most likely no longer there. If more transactions wait than there are connections, the
conversations take turns, and one conversation gets at most half of the connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from duologue.fairness.counted_pools import PoolCounts, hide
from duologue.fairness.fair_places import FairPlaces
from duologue.fairness.fair_queue import QueueFull, Shares
from duologue.fairness.owner import owner
from duologue.ports.store import StoreFailed

from .postgres_errors import connecting, place

PostgresConnection = psycopg.AsyncConnection[tuple[Any, ...]]
CONNECT_S_MAX = 5
WAIT_S_MAX = 10
EACH_WAITING_MAX = 500  # transactions of one conversation


class Pool:
    """A pool of at most `connections_max` connections at a time."""

    name = "store"

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
        self._places = FairPlaces(Shares(connections_max, max(1, connections_max // 2), EACH_WAITING_MAX))
        self._idle: list[PostgresConnection] = []
        self._owners: dict[PostgresConnection, str] = {}  # the connections in use, and for which conversation
        self._is_closed = False

    @property
    def counts(self) -> PoolCounts:
        """How many transactions run and wait, and how many were done and refused."""
        return self._places.counts

    async def take(self, conversation: str = "") -> PostgresConnection:
        """Take a connection from the pool for this conversation; return it with `give_back`. An empty `conversation`
        means that of the current task. Raises `StoreFailed` if all connections stay busy for `WAIT_S_MAX` seconds, if
        too many transactions of this conversation are waiting, or if connecting fails."""
        name = conversation or owner()
        try:
            async with asyncio.timeout(WAIT_S_MAX):
                await self._places.take(name)
        except QueueFull as full:
            raise StoreFailed(f"{self.where} can't keep up: {full}; try again later") from None
        except TimeoutError:
            raise StoreFailed(
                f"{self.where}: all connections were busy for {WAIT_S_MAX} s, nothing was written; use a "
                "larger connections_max"
            ) from None
        try:
            if self._is_closed:
                raise StoreFailed(f"{self.where}: the store is closed")
            connection = self._idle.pop() if self._idle else await self._connect()
        except BaseException:
            self._places.give_back(name)
            raise
        self._owners[connection] = name
        return connection

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
        self._places.give_back(self._owners.pop(connection))
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
        hide(self)
        await self.close_idle()
