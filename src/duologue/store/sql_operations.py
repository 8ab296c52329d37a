"""The operations of a store as scripts: generators that yield an SQL statement and receive its rows.

The scripts neither connect nor wait, so the SQLite store can run them in its thread, and the PostgreSQL store in the
event loop. Each script is one transaction. If it raises an exception, nothing is changed. The SQL function `now_ms()`
is the store's clock. Rule: every write to a conversation first checks the node and epoch of its row, so that a node
whose lease was taken over changes nothing.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from duologue.ports.store import (
    ActionProgress,
    Fenced,
    Held,
    Holding,
    Lease,
    NameTaken,
    OutboxMessage,
    Receipt,
    ServerNode,
    StoredConversation,
    StoreFailed,
)

from .schema import TABLES
from .write_content import Content, decode

T = TypeVar("T")
Row = tuple[Any, ...]
Sql = tuple[str, Sequence[Any]]
Script = Generator[Sql, Sequence[Row], T]
Claimed = tuple[Lease, StoredConversation]

RENEWED_AT_ONCE = 500
SWEPT_AT_ONCE = 200
_CLAIMS_MAX = 5


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """The SQL that differs between SQLite and PostgreSQL."""

    next_epoch: str
    lock: str  # locks a row until the transaction ends; empty for SQLite, which has only one writer


SQLITE = SqlDialect("UPDATE epochs SET last = last + 1 RETURNING last", "")
POSTGRES = SqlDialect("SELECT nextval('epochs')", " FOR UPDATE")


def marks(rows: int, columns: int = 1) -> str:
    """Placeholders for the values of several rows, such as "(?, ?), (?, ?)" for two rows of two columns."""
    one = "(" + ", ".join("?" * columns) + ")"
    return ", ".join([one] * rows)


# -- Leases


def claim(by: SqlDialect, conversation: str, node: str, ttl_ms: int, key_hash: str, force: bool) -> Script[Claimed]:
    """Claim a conversation for a node, and create it if it doesn't exist. If another node creates it at the same
    moment, claim it again. Raises `Held` if the key is wrong, or if another node holds the conversation and `force` is
    False."""
    for _ in range(_CLAIMS_MAX):
        found = yield (
            "SELECT node, expires_ms > now_ms(), key_hash FROM conversations WHERE id = ?" + by.lock,
            (conversation,),
        )
        if found:
            _may_claim(conversation, node, found[0], key_hash, force)
            return (yield from _take_over(by, conversation, node, ttl_ms, key_hash or found[0][2]))
        ((epoch,),) = yield by.next_epoch, ()
        made = yield (
            "INSERT INTO conversations (id, node, epoch, revision, expires_ms, written_ms, key_hash, is_over, "
            "write_hash) VALUES (?, ?, ?, 0, now_ms() + ?, now_ms(), ?, 0, '') ON CONFLICT DO NOTHING RETURNING id",
            (conversation, node, epoch, ttl_ms, key_hash),
        )
        if made:
            return Lease(conversation, node, epoch), StoredConversation(conversation, epoch, 0, key_hash=key_hash)
    raise StoreFailed(f"conversation {conversation!r} is created and deleted repeatedly while it is claimed: try again")


def _may_claim(conversation: str, node: str, found: Row, key_hash: str, force: bool) -> None:
    holder, lasts, key = found
    if key_hash and key and not hmac.compare_digest(key_hash.encode(), key.encode()):
        raise Held(f"conversation {conversation!r} belongs to another client: the key is wrong")
    if lasts and holder not in ("", node) and not force:
        raise Held(f"node {holder!r} holds conversation {conversation!r}")


def _take_over(by: SqlDialect, conversation: str, node: str, ttl_ms: int, key_hash: str) -> Script[Claimed]:
    ((epoch,),) = yield by.next_epoch, ()
    yield (
        "UPDATE conversations SET node = ?, epoch = ?, expires_ms = now_ms() + ?, key_hash = ?, write_hash = '' "
        "WHERE id = ?",
        (node, epoch, ttl_ms, key_hash, conversation),
    )
    stored = yield from read(conversation)
    assert stored is not None
    return Lease(conversation, node, epoch), stored


def renew(leases: Sequence[Lease], ttl_ms: int) -> Script[set[tuple[str, int]]]:
    """Extend these leases. Returns those that the node still held, each as conversation and epoch."""
    # The leases are always in the same order, so that two nodes can't deadlock.
    values = [value for lease in sorted(leases, key=lambda one: one.conversation) for value in _fields(lease)]
    rows = yield (
        "UPDATE conversations SET expires_ms = now_ms() + ? WHERE (id, node, epoch) IN "
        f"(VALUES {marks(len(leases), 3)}) RETURNING id, epoch",
        (ttl_ms, *values),
    )
    return {(conversation, epoch) for conversation, epoch in rows}


def release(lease: Lease) -> Script[None]:
    yield (
        "UPDATE conversations SET node = '', expires_ms = now_ms() WHERE id = ? AND node = ? AND epoch = ?",
        _fields(lease),
    )


def orphans(limit: int) -> Script[Sequence[str]]:
    rows = yield (
        "SELECT id FROM conversations WHERE is_over = 0 AND expires_ms <= now_ms() ORDER BY expires_ms, id LIMIT ?",
        (limit,),
    )
    return [conversation for (conversation,) in rows]


def _fields(lease: Lease) -> tuple[str, str, int]:
    return lease.conversation, lease.node, lease.epoch


def _fence(by: SqlDialect, lease: Lease) -> Script[None]:
    rows = yield "SELECT 1 FROM conversations WHERE id = ? AND node = ? AND epoch = ?" + by.lock, _fields(lease)
    if not rows:
        raise _lease_lost(lease)


def _lease_lost(lease: Lease) -> Fenced:
    return Fenced(f"node {lease.node!r} no longer holds conversation {lease.conversation!r} (epoch {lease.epoch})")


# -- Writing


_NEXT_REVISION = (
    "UPDATE conversations SET revision = revision + 1, written_ms = now_ms(), is_over = is_over | ?, "
    "write_hash = ? WHERE id = ? AND node = ? AND epoch = ? AND revision = ? RETURNING id, revision"
)


def write(lease: Lease, revision: int, content: Content) -> Script[int]:
    """Write a revision, and return its number. The first statement checks the lease and increments the revision. The
    other statements run in the same transaction."""
    rows = yield _NEXT_REVISION, (int(content.is_over), content.digest, *_fields(lease), revision)
    if not rows:
        return (yield from _written_before(lease, revision, content.digest))
    conversation = lease.conversation
    if content.parts:
        yield (
            f"INSERT INTO parts (conversation, part, content) VALUES {marks(len(content.parts), 3)} "
            "ON CONFLICT (conversation, part) DO UPDATE SET content = excluded.content",
            [value for part in content.parts for value in (conversation, *part)],
        )
    if content.removed:
        yield (
            f"DELETE FROM parts WHERE conversation = ? AND part IN {marks(1, len(content.removed))}",
            (conversation, *content.removed),
        )
    for key, output in content.done:
        yield from _done(conversation, key, output)
    if content.messages:
        yield (
            f"INSERT INTO messages (conversation, topic, body) VALUES {marks(len(content.messages), 3)}",
            [value for message in content.messages for value in (conversation, *message)],
        )
    return revision + 1


def write_at_once(lease: Lease, revision: int, content: Content) -> Script[int]:
    """Write a revision that only stores parts, and return its number. Everything is done by a single PostgreSQL
    statement, so it takes one round trip instead of four."""
    rows = yield (
        f"WITH fenced AS ({_NEXT_REVISION}), written AS (INSERT INTO parts (conversation, part, content) "
        f"SELECT fenced.id, given.part, given.content FROM fenced CROSS JOIN (VALUES {marks(len(content.parts), 2)}) "
        "AS given (part, content) ON CONFLICT (conversation, part) DO UPDATE SET content = excluded.content) "
        "SELECT revision FROM fenced",
        (
            *(int(content.is_over), content.digest, *_fields(lease), revision),
            *(value for part in content.parts for value in part),
        ),
    )
    if not rows:
        return (yield from _written_before(lease, revision, content.digest))
    return revision + 1


def _written_before(lease: Lease, revision: int, digest: str) -> Script[int]:
    """Decide what a write returns whose lease or revision doesn't match. If the node still holds the lease and only
    retries a write whose answer was lost, returns the same number again. Otherwise raises `Fenced`."""
    rows = yield (
        "SELECT revision, write_hash FROM conversations WHERE id = ? AND node = ? AND epoch = ?",
        _fields(lease),
    )
    if not rows:
        raise _lease_lost(lease)
    if rows[0] == (revision + 1, digest):
        return revision + 1
    raise Fenced(
        f"conversation {lease.conversation!r} is at revision {rows[0][0]}, not {revision}: the write is out of date"
    )


def _done(conversation: str, key: str, output: str) -> Script[None]:
    rows = yield (
        "INSERT INTO receipts (conversation, key, name, token, output) VALUES (?, ?, '', '', ?) "
        "ON CONFLICT (conversation, key) DO UPDATE SET output = excluded.output "
        "WHERE receipts.output IS NULL OR receipts.output = excluded.output RETURNING key",
        (conversation, key, output),
    )
    if not rows:
        raise Fenced(f"action {key!r} of conversation {conversation!r} was already finished with another output")


def read(conversation: str) -> Script[StoredConversation | None]:
    """Read a conversation; None if there is no such conversation. It is read in one statement, so that a write by
    another node is seen completely or not at all."""
    rows = yield (
        "SELECT epoch, revision, key_hash, is_over, part, content FROM conversations "
        "LEFT JOIN parts ON conversation = id WHERE id = ? ORDER BY part",
        (conversation,),
    )
    if not rows:
        return None
    epoch, revision, key_hash, is_over = rows[0][:4]
    parts = {row[4]: decode(row[5], conversation, f"part {row[4]!r}") for row in rows if row[4] is not None}
    return StoredConversation(conversation, epoch, revision, parts, key_hash, bool(is_over))


def begin(by: SqlDialect, lease: Lease, key: str, name: str, token: str) -> Script[Receipt]:
    """Begin an action. The receipt says whether the action is new, was begun before, or is done. Each action is begun
    with its own `token`. If the answer is lost and the caller retries with the same token, the receipt still says that
    the action is new."""
    yield from _fence(by, lease)
    made = yield (
        "INSERT INTO receipts (conversation, key, name, token) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING "
        "RETURNING key",
        (lease.conversation, key, name, token),
    )
    if made:
        return Receipt(key, ActionProgress.NEW, name)
    ((known, owner, output),) = yield (
        "SELECT name, token, output FROM receipts WHERE conversation = ? AND key = ?",
        (lease.conversation, key),
    )
    if output is not None:
        return Receipt(key, ActionProgress.DONE, known, decode(output, lease.conversation, f"the output of {key!r}"))
    return Receipt(key, ActionProgress.NEW if owner == token else ActionProgress.BEGUN, known)


def finish(by: SqlDialect, lease: Lease, key: str, output: str) -> Script[None]:
    yield from _fence(by, lease)
    yield from _done(lease.conversation, key, output)


def outbox(conversation: str) -> Script[Sequence[OutboxMessage]]:
    rows = yield "SELECT id, topic, body FROM messages WHERE conversation = ? ORDER BY id", (conversation,)
    return [
        OutboxMessage(topic, decode(body, conversation, f"message {number}"), number) for number, topic, body in rows
    ]


def sent(by: SqlDialect, lease: Lease, ids: Sequence[int]) -> Script[None]:
    yield from _fence(by, lease)
    if ids:
        yield (
            f"DELETE FROM messages WHERE conversation = ? AND id IN {marks(1, len(ids))}",
            (lease.conversation, *ids),
        )


def log(by: SqlDialect, lease: Lease, batch: str, lines: str) -> Script[None]:
    """Append lines to the journal. `batch` is an id of these lines: a retry with the same id doesn't write them
    twice."""
    yield from _fence(by, lease)
    yield (
        "INSERT INTO journal (conversation, batch, lines) VALUES (?, ?, ?) ON CONFLICT (batch) DO NOTHING",
        (lease.conversation, batch, lines),
    )


def journal(conversation: str) -> Script[Sequence[str]]:
    rows = yield "SELECT lines FROM journal WHERE conversation = ? ORDER BY id", (conversation,)
    return [line for (lines,) in rows for line in decode(lines, conversation, "the journal")]


# -- Nodes and maintenance


def enlist(node: ServerNode, ttl_ms: int) -> Script[None]:
    rows = yield (
        "INSERT INTO nodes (name, instance, address, conversations, seen_ms, expires_ms) "
        "VALUES (?, ?, ?, ?, now_ms(), now_ms() + ?) ON CONFLICT (name) DO UPDATE SET instance = excluded.instance, "
        "address = excluded.address, conversations = excluded.conversations, seen_ms = excluded.seen_ms, "
        "expires_ms = excluded.expires_ms WHERE nodes.instance = excluded.instance OR nodes.expires_ms <= now_ms() "
        "RETURNING name",
        (node.name, node.instance, node.address, node.conversations, ttl_ms),
    )
    if not rows:
        raise NameTaken(f"another node named {node.name!r} is alive: give each node its own name")


def leave(node: ServerNode) -> Script[None]:
    yield "DELETE FROM nodes WHERE name = ? AND instance = ?", (node.name, node.instance)


def nodes() -> Script[Sequence[ServerNode]]:
    rows = yield (
        "SELECT name, instance, address, conversations, now_ms() - seen_ms FROM nodes WHERE expires_ms > now_ms() "
        "ORDER BY name",
        (),
    )
    return [ServerNode(*row) for row in rows]


def holdings(limit: int) -> Script[Sequence[Holding]]:
    rows = yield (
        "SELECT id, node, epoch, revision, expires_ms - now_ms(), now_ms() - written_ms, is_over FROM conversations "
        "ORDER BY written_ms DESC, id LIMIT ?",
        (limit,),
    )
    return [
        Holding(name, node, epoch, revision, expires_ms, age_ms, bool(is_over))
        for name, node, epoch, revision, expires_ms, age_ms, is_over in rows
    ]


def forget(conversation: str) -> Script[bool]:
    """Delete a conversation. Its main row is deleted first, so that later writes by the node that holds it are
    rejected. Returns False if there was nothing to delete."""
    rows = yield "DELETE FROM conversations WHERE id = ? RETURNING id", (conversation,)
    found = bool(rows)
    for table in TABLES:
        found |= bool((yield f"DELETE FROM {table} WHERE conversation = ? RETURNING 1", (conversation,)))
    return found


def sweep(older_than_ms: int) -> Script[int]:
    """Delete a batch of old conversations: those that were last written at least `older_than_ms` ago, and that have
    either ended or have no node that holds them. Nodes that expired at least that long ago are deleted too. Returns the
    number of deleted conversations. The caller repeats this until fewer than SWEPT_AT_ONCE were deleted."""
    yield "DELETE FROM nodes WHERE expires_ms <= now_ms() - ?", (older_than_ms,)
    rows = yield (
        "DELETE FROM conversations WHERE id IN (SELECT id FROM conversations WHERE (is_over = 1 "
        f"OR expires_ms <= now_ms()) AND written_ms <= now_ms() - ? LIMIT {SWEPT_AT_ONCE}) RETURNING id",
        (older_than_ms,),
    )
    if rows:
        for table in TABLES:
            yield f"DELETE FROM {table} WHERE conversation IN {marks(1, len(rows))}", [row[0] for row in rows]
    return len(rows)


def as_lines(lines: Sequence[str]) -> str:
    """Lines of a journal as one JSON text, in the form that `log` stores."""
    return json.dumps(list(lines))
