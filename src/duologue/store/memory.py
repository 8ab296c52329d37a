"""A store that forgets everything when the process ends: for tests, simulations and a first try.

Plain dictionaries, nothing that waits. Rule: it keeps the same contract as the databases, to the letter, and is
what they are tested against.
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
    """Everything that is kept about one."""

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
    """`clock` tells milliseconds."""

    def __init__(self, clock: Clock = lambda: time.monotonic_ns() // 1_000_000) -> None:
        self._now_ms = clock
        self._kept: dict[str, _Conversation] = {}
        self._nodes: dict[str, tuple[ServerNode, int, int]] = {}  # the node, when it was seen, until when it is alive
        self._epochs = 0
        self._messages = 0

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    # -- Owning

    async def claim(
        self, conversation: str, node: str, ttl_ms: int, *, key_hash: str = "", force: bool = False
    ) -> tuple[Lease, StoredConversation]:
        conversation_of(conversation), node_of(node), ttl_of(ttl_ms), text_of(key_hash, "key hash")
        kept = self._kept.get(conversation)
        if kept:
            self._may_claim(conversation, kept, node, key_hash, force)
        else:
            kept = self._kept[conversation] = _Conversation(key_hash, written_ms=self._now_ms())
        self._epochs += 1
        kept.node, kept.epoch, kept.expires_ms = node, self._epochs, self._now_ms() + ttl_ms
        kept.key_hash = kept.key_hash or key_hash
        kept.write_hash = ""
        return Lease(conversation, node, kept.epoch), _shown(conversation, kept)

    def _may_claim(self, conversation: str, kept: _Conversation, node: str, key_hash: str, force: bool) -> None:
        if key_hash and kept.key_hash and not hmac.compare_digest(key_hash.encode(), kept.key_hash.encode()):
            raise Held(f"conversation {conversation!r} belongs to somebody else")
        if kept.expires_ms > self._now_ms() and kept.node not in ("", node) and not force:
            raise Held(f"node {kept.node!r} holds conversation {conversation!r}")

    async def renew(self, leases: Sequence[Lease], ttl_ms: int) -> Sequence[Lease]:
        ttl_of(ttl_ms)
        lost = []
        for lease in leases:
            if kept := self._owned(lease_of(lease)):
                kept.expires_ms = self._now_ms() + ttl_ms
            else:
                lost.append(lease)
        return lost

    async def release(self, lease: Lease) -> None:
        if kept := self._owned(lease_of(lease)):
            kept.node, kept.expires_ms = "", self._now_ms()

    async def orphans(self, limit: int) -> Sequence[str]:
        now_ms = self._now_ms()
        free = [(kept.expires_ms, name) for name, kept in self._kept.items() if not kept.is_over]
        return [name for expires_ms, name in sorted(free) if expires_ms <= now_ms][: limit_of(limit)]

    def _owned(self, lease: Lease) -> _Conversation | None:
        kept = self._kept.get(lease.conversation)
        return kept if kept and (kept.node, kept.epoch) == (lease.node, lease.epoch) else None

    def _fence(self, lease: Lease) -> _Conversation:
        if kept := self._owned(lease_of(lease)):
            return kept
        raise Fenced(f"node {lease.node!r} no longer holds conversation {lease.conversation!r} (epoch {lease.epoch})")

    # -- Writing

    async def write(self, lease: Lease, revision: int, write: StoreWrite) -> int:
        content = content_of(write)
        kept = self._fence(lease)
        if (kept.revision, kept.write_hash) == (revision + 1, content.digest):
            return kept.revision
        if kept.revision != revision:
            raise Fenced(f"conversation {lease.conversation!r} is at revision {kept.revision}, not {revision}")
        known = {key: action.output for key, action in kept.actions.items()}
        for key, output in content.done:
            _may_finish(lease, known, key, output)
            known[key] = output
        self._apply(kept, content)
        return kept.revision

    def _apply(self, kept: _Conversation, content: Content) -> None:
        kept.parts |= dict(content.parts)
        for part in content.removed:
            kept.parts.pop(part, None)
        for key, output in content.done:
            kept.actions.setdefault(key, _Action("")).output = output
        for message in content.messages:
            self._messages += 1
            kept.messages[self._messages] = message
        kept.revision += 1
        kept.written_ms = self._now_ms()
        kept.is_over |= content.is_over
        kept.write_hash = content.digest

    async def read(self, conversation: str) -> StoredConversation | None:
        kept = self._kept.get(conversation_of(conversation))
        return _shown(conversation, kept) if kept else None

    async def begin(self, lease: Lease, key: str, name: str) -> Receipt:
        key_of(key), text_of(name, "action")
        kept = self._fence(lease)
        known = kept.actions.get(key)
        if known is None:
            kept.actions[key] = _Action(name)
            return Receipt(key, ActionProgress.NEW, name)
        if known.output is None:
            return Receipt(key, ActionProgress.BEGUN, known.name)
        output = decode(known.output, lease.conversation, f"the output of {key!r}")
        return Receipt(key, ActionProgress.DONE, known.name, output)

    async def finish(self, lease: Lease, key: str, output: Any) -> None:
        text = encode(output, f"the output of {key_of(key)!r}")
        kept = self._fence(lease)
        _may_finish(lease, {name: action.output for name, action in kept.actions.items()}, key, text)
        kept.actions.setdefault(key, _Action("")).output = text

    async def outbox(self, conversation: str) -> Sequence[OutboxMessage]:
        kept = self._kept.get(conversation_of(conversation))
        waiting = kept.messages.items() if kept else ()
        return [
            OutboxMessage(topic, decode(body, conversation, "a message"), number) for number, (topic, body) in waiting
        ]

    async def sent(self, lease: Lease, ids: Sequence[int]) -> None:
        kept = self._fence(lease)
        for number in ids:
            kept.messages.pop(number, None)

    async def log(self, lease: Lease, lines: Sequence[str]) -> None:
        self._fence(lease).journal.extend(lines)

    async def journal(self, conversation: str) -> Sequence[str]:
        kept = self._kept.get(conversation_of(conversation))
        return list(kept.journal) if kept else []

    # -- Looking after it

    async def enlist(self, node: ServerNode, ttl_ms: int) -> None:
        node_of(node.name), node_of(node.instance), text_of(node.address, "address"), ttl_of(ttl_ms)
        now_ms = self._now_ms()
        known, _, alive_until_ms = self._nodes.get(node.name, (node, 0, 0))
        if known.instance != node.instance and alive_until_ms > now_ms:
            raise NameTaken(f"another node named {node.name!r} is alive: give each node a name of its own")
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
        newest = sorted(self._kept.items(), key=lambda one: (-one[1].written_ms, one[0]))
        return [
            Holding(
                name,
                kept.node,
                kept.epoch,
                kept.revision,
                kept.expires_ms - now_ms,
                now_ms - kept.written_ms,
                kept.is_over,
            )
            for name, kept in newest[: limit_of(limit)]
        ]

    async def forget(self, conversation: str) -> bool:
        return self._kept.pop(conversation_of(conversation), None) is not None

    async def sweep(self, older_than_ms: int) -> int:
        until_ms = self._now_ms() - older_than_ms
        old = [name for name, kept in self._kept.items() if kept.is_over and kept.written_ms <= until_ms]
        for name in old:
            del self._kept[name]
        self._nodes = {name: one for name, one in self._nodes.items() if one[2] > until_ms}
        return len(old)


def _shown(conversation: str, kept: _Conversation) -> StoredConversation:
    parts = {part: decode(text, conversation, f"part {part!r}") for part, text in sorted(kept.parts.items())}
    return StoredConversation(conversation, kept.epoch, kept.revision, parts, kept.key_hash, kept.is_over)


def _may_finish(lease: Lease, known: dict[str, str | None], key: str, output: str) -> None:
    if known.get(key) not in (None, output):
        raise Fenced(f"action {key!r} of conversation {lease.conversation!r} was finished before, with another output")
