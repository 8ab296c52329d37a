"""A store for any database that can run the scripts of `sql_operations`.

Each method checks its arguments, makes the script and runs it. Rule: nothing in this module depends on a particular
database.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, TypeVar

from duologue.ports.store import Holding, Lease, OutboxMessage, Receipt, ServerNode, StoredConversation, StoreWrite

from . import sql_operations
from .sql_operations import RENEWED_AT_ONCE, SWEPT_AT_ONCE, Script, SqlDialect
from .write_content import (
    Content,
    content_of,
    conversation_of,
    encode,
    key_of,
    lease_of,
    limit_of,
    node_of,
    text_of,
    ttl_of,
)

T = TypeVar("T")


class TransactionKind(Enum):
    """What a script does: several statements in a transaction, one statement that commits itself, or only reading."""

    TRANSACTION = "transaction"
    STATEMENT = "statement"  # a single statement that changes something and commits itself
    READING = "reading"  # changes nothing


class SqlStore(ABC):
    """All operations of a store. A subclass adds the connection to a particular database."""

    dialect: SqlDialect

    @abstractmethod
    async def run(
        self,
        make: Callable[[], Script[T]],
        *,
        conversation: str = "",
        again: bool = True,
        kind: TransactionKind = TransactionKind.TRANSACTION,
    ) -> T:
        """Run a script completely or not at all, and return its result. `again` says that running the script a second
        time would change nothing more. Such a script may be retried even if the first run may have succeeded.
        `conversation` is the conversation that the script is about; scripts of different conversations take turns."""

    async def open(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    # -- Leases

    async def claim(
        self, conversation: str, node: str, ttl_ms: int, *, key_hash: str = "", force: bool = False
    ) -> tuple[Lease, StoredConversation]:
        arguments = (conversation_of(conversation), node_of(node), ttl_of(ttl_ms), text_of(key_hash, "key hash"), force)
        return await self.run(lambda: sql_operations.claim(self.dialect, *arguments), conversation=conversation)

    async def renew(self, leases: Sequence[Lease], ttl_ms: int) -> Sequence[Lease]:
        ttl_of(ttl_ms)
        lost: list[Lease] = []
        for at in range(0, len(leases), RENEWED_AT_ONCE):
            some = [lease_of(lease) for lease in leases[at : at + RENEWED_AT_ONCE]]
            renewed = await self.run(lambda some=some: sql_operations.renew(some, ttl_ms))  # type: ignore[misc]
            lost += [lease for lease in some if (lease.conversation, lease.epoch) not in renewed]
        return lost

    async def release(self, lease: Lease) -> None:
        lease_of(lease)
        await self.run(lambda: sql_operations.release(lease), conversation=lease.conversation)

    async def orphans(self, limit: int) -> Sequence[str]:
        return await self.run(lambda: sql_operations.orphans(limit_of(limit)), kind=TransactionKind.READING)

    # -- Writing

    async def write(self, lease: Lease, revision: int, write: StoreWrite) -> int:
        lease_of(lease)
        return await self.write_content(lease, revision, content_of(write))

    async def write_content(self, lease: Lease, revision: int, content: Content) -> int:
        return await self.run(lambda: sql_operations.write(lease, revision, content), conversation=lease.conversation)

    async def read(self, conversation: str) -> StoredConversation | None:
        conversation_of(conversation)
        return await self.run(
            lambda: sql_operations.read(conversation), conversation=conversation, kind=TransactionKind.READING
        )

    async def begin(self, lease: Lease, key: str, name: str) -> Receipt:
        lease_of(lease)
        arguments = (key_of(key), text_of(name, "action"), secrets.token_hex(8))
        return await self.run(
            lambda: sql_operations.begin(self.dialect, lease, *arguments), conversation=lease.conversation
        )

    async def finish(self, lease: Lease, key: str, output: Any) -> None:
        lease_of(lease)
        text = encode(output, f"the output of {key_of(key)!r}")
        await self.run(lambda: sql_operations.finish(self.dialect, lease, key, text), conversation=lease.conversation)

    async def outbox(self, conversation: str) -> Sequence[OutboxMessage]:
        conversation_of(conversation)
        return await self.run(
            lambda: sql_operations.outbox(conversation), conversation=conversation, kind=TransactionKind.READING
        )

    async def sent(self, lease: Lease, ids: Sequence[int]) -> None:
        lease_of(lease)
        await self.run(lambda: sql_operations.sent(self.dialect, lease, ids), conversation=lease.conversation)

    async def log(self, lease: Lease, lines: Sequence[str]) -> None:
        lease_of(lease)
        batch, text = secrets.token_hex(8), sql_operations.as_lines(lines)
        await self.run(lambda: sql_operations.log(self.dialect, lease, batch, text), conversation=lease.conversation)

    async def journal(self, conversation: str) -> Sequence[str]:
        conversation_of(conversation)
        return await self.run(
            lambda: sql_operations.journal(conversation), conversation=conversation, kind=TransactionKind.READING
        )

    # -- Nodes and maintenance

    async def enlist(self, node: ServerNode, ttl_ms: int) -> None:
        node_of(node.name), node_of(node.instance), text_of(node.address, "address"), ttl_of(ttl_ms)
        await self.run(lambda: sql_operations.enlist(node, ttl_ms))

    async def leave(self, node: ServerNode) -> None:
        node_of(node.name), node_of(node.instance)
        await self.run(lambda: sql_operations.leave(node))

    async def nodes(self) -> Sequence[ServerNode]:
        return await self.run(sql_operations.nodes, kind=TransactionKind.READING)

    async def holdings(self, limit: int) -> Sequence[Holding]:
        return await self.run(lambda: sql_operations.holdings(limit_of(limit)), kind=TransactionKind.READING)

    async def forget(self, conversation: str) -> bool:
        conversation_of(conversation)
        return await self.run(lambda: sql_operations.forget(conversation), conversation=conversation, again=False)

    async def sweep(self, older_than_ms: int) -> int:
        swept = 0
        while True:
            some = await self.run(lambda: sql_operations.sweep(older_than_ms), again=False)
            swept += some
            if some < SWEPT_AT_ONCE:
                return swept
