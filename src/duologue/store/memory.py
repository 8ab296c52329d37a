"""A store in memory, for tests, simulations and a first try. Its content is lost when the process ends.

The store consists of plain dictionaries, and no operation waits. Rule: this store behaves exactly like the database
stores, which are tested against it.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
    StoreWrite,
)

from .wall_clock import Clock
from .write_content import (
    Content,
    content_of,
    conversation_of,
    decode,
    encode,
    key_of,
    lease_of,
    limit_of,
    node_of,
    text_of,
    ttl_of,
)


@dataclass(slots=True)
class _Action:
    name: str
    output: str | None = None


@dataclass(slots=True)
class _Conversation:
    """Everything that is stored about one conversation."""

    key_hash: str
    node: str = ""
    epoch: int = 0
    revision: int = 0
    expires_ms: int = 0
    written_ms: int = 0
    is_over: bool = False
    write_hash: str = ""
    parts: dict[str, str] = field(default_factory=dict)
    actions: dict[str, _Action] = field(default_factory=dict)
    messages: dict[int, tuple[str, str]] = field(default_factory=dict)
    journal: list[str] = field(default_factory=list)


class MemoryStore:
    """A store in memory. `clock` returns the time in milliseconds."""

    def __init__(self, clock: Clock = lambda: time.monotonic_ns() // 1_000_000) -> None:
        self._now_ms = clock
        self._conversations: dict[str, _Conversation] = {}
        self._nodes: dict[
            str, tuple[ServerNode, int, int]
        ] = {}  # the node, when it was last seen, until when it counts as alive
        self._epochs = 0
        self._messages = 0

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    # -- Leases

    async def claim(
        self, conversation: str, node: str, ttl_ms: int, *, key_hash: str = "", force: bool = False
    ) -> tuple[Lease, StoredConversation]:
        conversation_of(conversation), node_of(node), ttl_of(ttl_ms), text_of(key_hash, "key hash")
        stored = self._conversations.get(conversation)
        if stored:
            self._may_claim(conversation, stored, node, key_hash, force)
        else:
            stored = self._conversations[conversation] = _Conversation(key_hash, written_ms=self._now_ms())
        self._epochs += 1
        stored.node, stored.epoch, stored.expires_ms = node, self._epochs, self._now_ms() + ttl_ms
        stored.key_hash = stored.key_hash or key_hash
        stored.write_hash = ""
        return Lease(conversation, node, stored.epoch), _as_stored(conversation, stored)

    def _may_claim(self, conversation: str, stored: _Conversation, node: str, key_hash: str, force: bool) -> None:
        if key_hash and stored.key_hash and not hmac.compare_digest(key_hash.encode(), stored.key_hash.encode()):
            raise Held(f"conversation {conversation!r} belongs to another client: the key is wrong")
        if stored.expires_ms > self._now_ms() and stored.node not in ("", node) and not force:
            raise Held(f"node {stored.node!r} holds conversation {conversation!r}")

    async def renew(self, leases: Sequence[Lease], ttl_ms: int) -> Sequence[Lease]:
        ttl_of(ttl_ms)
        lost = []
        for lease in leases:
            if stored := self._owned(lease_of(lease)):
                stored.expires_ms = self._now_ms() + ttl_ms
            else:
                lost.append(lease)
        return lost

    async def release(self, lease: Lease) -> None:
        if stored := self._owned(lease_of(lease)):
            stored.node, stored.expires_ms = "", self._now_ms()

    async def orphans(self, limit: int) -> Sequence[str]:
        now_ms = self._now_ms()
        free = [(stored.expires_ms, name) for name, stored in self._conversations.items() if not stored.is_over]
        return [name for expires_ms, name in sorted(free) if expires_ms <= now_ms][: limit_of(limit)]

    def _owned(self, lease: Lease) -> _Conversation | None:
        stored = self._conversations.get(lease.conversation)
        return stored if stored and (stored.node, stored.epoch) == (lease.node, lease.epoch) else None

    def _fence(self, lease: Lease) -> _Conversation:
        if stored := self._owned(lease_of(lease)):
            return stored
        raise Fenced(f"node {lease.node!r} no longer holds conversation {lease.conversation!r} (epoch {lease.epoch})")

    # -- Writing

    async def write(self, lease: Lease, revision: int, write: StoreWrite) -> int:
        content = content_of(write)
        stored = self._fence(lease)
        if (stored.revision, stored.write_hash) == (revision + 1, content.digest):
            return stored.revision
        if stored.revision != revision:
            raise Fenced(
                f"conversation {lease.conversation!r} is at revision {stored.revision}, not {revision}: "
                "the write is out of date"
            )
        known = {key: action.output for key, action in stored.actions.items()}
        for key, output in content.done:
            _may_finish(lease, known, key, output)
            known[key] = output
        self._apply(stored, content)
        return stored.revision

    def _apply(self, stored: _Conversation, content: Content) -> None:
        stored.parts |= dict(content.parts)
        for part in content.removed:
            stored.parts.pop(part, None)
        for key, output in content.done:
            stored.actions.setdefault(key, _Action("")).output = output
        for message in content.messages:
            self._messages += 1
            stored.messages[self._messages] = message
        stored.revision += 1
        stored.written_ms = self._now_ms()
        stored.is_over |= content.is_over
        stored.write_hash = content.digest

    async def read(self, conversation: str) -> StoredConversation | None:
        stored = self._conversations.get(conversation_of(conversation))
        return _as_stored(conversation, stored) if stored else None

    async def begin(self, lease: Lease, key: str, name: str) -> Receipt:
        key_of(key), text_of(name, "action")
        stored = self._fence(lease)
        known = stored.actions.get(key)
        if known is None:
            stored.actions[key] = _Action(name)
            return Receipt(key, ActionProgress.NEW, name)
        if known.output is None:
            return Receipt(key, ActionProgress.BEGUN, known.name)
        output = decode(known.output, lease.conversation, f"the output of {key!r}")
        return Receipt(key, ActionProgress.DONE, known.name, output)

    async def finish(self, lease: Lease, key: str, output: Any) -> None:
        text = encode(output, f"the output of {key_of(key)!r}")
        stored = self._fence(lease)
        _may_finish(lease, {name: action.output for name, action in stored.actions.items()}, key, text)
        stored.actions.setdefault(key, _Action("")).output = text

    async def outbox(self, conversation: str) -> Sequence[OutboxMessage]:
        stored = self._conversations.get(conversation_of(conversation))
        waiting = stored.messages.items() if stored else ()
        return [
            OutboxMessage(topic, decode(body, conversation, "a message"), number) for number, (topic, body) in waiting
        ]

    async def sent(self, lease: Lease, ids: Sequence[int]) -> None:
        stored = self._fence(lease)
        for number in ids:
            stored.messages.pop(number, None)

    async def log(self, lease: Lease, lines: Sequence[str]) -> None:
        self._fence(lease).journal.extend(lines)

    async def journal(self, conversation: str) -> Sequence[str]:
        stored = self._conversations.get(conversation_of(conversation))
        return list(stored.journal) if stored else []

    # -- Nodes and maintenance

    async def enlist(self, node: ServerNode, ttl_ms: int) -> None:
        node_of(node.name), node_of(node.instance), text_of(node.address, "address"), ttl_of(ttl_ms)
        now_ms = self._now_ms()
        known, _, alive_until_ms = self._nodes.get(node.name, (node, 0, 0))
        if known.instance != node.instance and alive_until_ms > now_ms:
            raise NameTaken(f"another node named {node.name!r} is alive: give each node its own name")
        self._nodes[node.name] = (node, now_ms, now_ms + ttl_ms)

    async def leave(self, node: ServerNode) -> None:
        node_of(node.name), node_of(node.instance)
        if node.name in self._nodes and self._nodes[node.name][0].instance == node.instance:
            del self._nodes[node.name]

    async def nodes(self) -> Sequence[ServerNode]:
        now_ms = self._now_ms()
        alive = [(node, seen_ms) for node, seen_ms, until_ms in self._nodes.values() if until_ms > now_ms]
        return [
            replace(node, alive_ms=now_ms - seen_ms) for node, seen_ms in sorted(alive, key=lambda one: one[0].name)
        ]

    async def holdings(self, limit: int) -> Sequence[Holding]:
        now_ms = self._now_ms()
        newest = sorted(self._conversations.items(), key=lambda one: (-one[1].written_ms, one[0]))
        return [
            Holding(
                name,
                stored.node,
                stored.epoch,
                stored.revision,
                stored.expires_ms - now_ms,
                now_ms - stored.written_ms,
                stored.is_over,
            )
            for name, stored in newest[: limit_of(limit)]
        ]

    async def forget(self, conversation: str) -> bool:
        return self._conversations.pop(conversation_of(conversation), None) is not None

    async def sweep(self, older_than_ms: int) -> int:
        until_ms = self._now_ms() - older_than_ms
        old = [
            name
            for name, stored in self._conversations.items()
            if (stored.is_over or stored.expires_ms <= self._now_ms()) and stored.written_ms <= until_ms
        ]
        for name in old:
            del self._conversations[name]
        self._nodes = {name: one for name, one in self._nodes.items() if one[2] > until_ms}
        return len(old)


def _as_stored(conversation: str, stored: _Conversation) -> StoredConversation:
    parts = {part: decode(text, conversation, f"part {part!r}") for part, text in sorted(stored.parts.items())}
    return StoredConversation(conversation, stored.epoch, stored.revision, parts, stored.key_hash, stored.is_over)


def _may_finish(lease: Lease, known: dict[str, str | None], key: str, output: str) -> None:
    if known.get(key) not in (None, output):
        raise Fenced(f"action {key!r} of conversation {lease.conversation!r} was already finished with another output")
