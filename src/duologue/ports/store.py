"""The store port: saves conversations, so that a crash loses nothing and only one node owns each conversation.

The node that holds a conversation's lease owns it. Each time a node claims a conversation, the epoch of the
conversation increases. Every write names the epoch of its owner and the revision that it replaces, so a former owner
can't write any more. To the store, the parts of a conversation are just JSON. Every method may raise StoreFailed. Then
nothing was changed, unless the error is Unsure or the docstring of the method says otherwise. Rule: a write is atomic,
and durable when the method returns. A write with an old epoch or a wrong revision raises Fenced and changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from duologue.core.errors import DuologueError


class StoreFailed(DuologueError):
    """The store can't be used. The message says why and what to do, and contains no credentials."""


class Unsure(StoreFailed):
    """It is unknown whether a method of the store took effect. It is safe to call the method again with the same
    arguments. Only `begin` and `log` may then have a different result, which their docstrings describe."""


class Damaged(StoreFailed):
    """The stored data of one conversation can't be read. Other conversations aren't affected."""


class Fenced(DuologueError):
    """Another node owns this conversation now, or has written to it. Stop working on it immediately."""


class Held(DuologueError):
    """Either another node owns this conversation and its lease has not expired, or a client passed the wrong key."""


class NameTaken(DuologueError):
    """Another running node has this name."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write a conversation. It lasts until another node claims the conversation."""

    conversation: str
    node: str
    epoch: int


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as it was last written. `parts` has one JSON value for each part, such as "machine", "words" and
    "dialogue". Parts that contain words aren't stored if the conversation is private."""

    conversation: str
    epoch: int
    revision: int
    parts: Mapping[str, Any] = field(default_factory=dict)
    key_hash: str = ""
    is_over: bool = False


class ActionProgress(Enum):
    """The progress of an action that may run only once."""

    NEW = "new"  # not begun before; this call begins the action
    BEGUN = "begun"  # begun earlier, and its outcome was never stored
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the store knows about an action that may run only once. `output` is set when the action is done."""

    key: str
    progress: ActionProgress
    name: str = ""
    output: Any = None


@dataclass(frozen=True, slots=True)
class OutboxMessage:
    """A message that must be sent exactly once. It is stored in the same write as the parts of the conversation, and
    kept until it is marked as sent."""

    topic: str
    body: Any
    id: int = 0  # assigned by the store


@dataclass(frozen=True, slots=True)
class StoreWrite:
    """One transaction. A part that isn't in `parts` stays unchanged, and a part with the value None is removed. A
    conversation that has ended stays ended, whatever `is_over` says."""

    parts: Mapping[str, Any]
    done: Sequence[tuple[str, Any]] = ()  # finished actions: key and output
    messages: Sequence[OutboxMessage] = ()
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class ServerNode:
    """A server. `instance` distinguishes two servers with the same name."""

    name: str
    instance: str
    address: str = ""
    conversations: int = 0
    alive_ms: int = 0  # time since the last heartbeat, by the store's own clock


@dataclass(frozen=True, slots=True)
class Holding:
    """A conversation, the node that owns it, and how long the node's lease lasts."""

    conversation: str
    node: str
    epoch: int
    revision: int
    expires_ms: int  # time until the lease expires, by the store's own clock; negative: expired
    age_ms: int  # time since the conversation was last written
    is_over: bool = False


class Store(Protocol):
    """Saves conversations. All times come from the store's own clock, so that nodes whose clocks differ still agree."""

    async def open(self) -> None:
        """Connect, and migrate the schema. Raises StoreFailed."""
        ...

    async def close(self) -> None: ...

    # -- Owning

    async def claim(
        self, conversation: str, node: str, ttl_ms: int, *, key_hash: str = "", force: bool = False
    ) -> tuple[Lease, StoredConversation]:
        """Become the owner of a conversation, which may be new or stored. The epoch increases, and a store never uses
        an epoch twice, not even after `forget`. Raises Held while another node's lease lasts. With `force`, which is
        for a client that has come back, the conversation is claimed anyway.

        `key_hash` is the hash of the client's key. The first hash that is passed for a conversation is stored; after
        that, a different hash raises Held, even with `force`. A node that takes a conversation over without a client
        passes no `key_hash`."""
        ...

    async def renew(self, leases: Sequence[Lease], ttl_ms: int) -> Sequence[Lease]:
        """Extend these leases. A lease that has expired is extended too, unless another node has claimed the
        conversation. Returns the leases that couldn't be extended."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease up. Any node may claim the conversation from now on, and this lease can't write any more."""
        ...

    async def orphans(self, limit: int) -> Sequence[str]:
        """Up to `limit` conversations that haven't ended and have no valid lease, in the order in which their leases
        expired."""
        ...

    # -- Writing

    async def write(self, lease: Lease, revision: int, write: StoreWrite) -> int:
        """Write the revision that comes after the given revision, and return its number. Raises Fenced if the lease or
        the revision is out of date. A repeated write with the same lease, revision and content takes effect only one
        time, and returns the same number. So after Unsure, repeat the write."""
        ...

    async def read(self, conversation: str) -> StoredConversation | None: ...

    async def begin(self, lease: Lease, key: str, name: str) -> Receipt:
        """Call this before an action that must not run twice. If the progress in the result is NEW, run the action now.
        Raises Fenced if another node owns the conversation. If this method raised Unsure and is called again, it may
        return BEGUN although the action never ran. Only the owner can know whether it ran."""
        ...

    async def finish(self, lease: Lease, key: str, output: Any) -> None:
        """Store the output of an action. Raises Fenced if another node owns the conversation, or if a different output
        is already stored. `begin` needn't have been called for this action."""
        ...

    async def outbox(self, conversation: str) -> Sequence[OutboxMessage]:
        """The messages that haven't been sent yet, oldest first."""
        ...

    async def sent(self, lease: Lease, ids: Sequence[int]) -> None: ...

    async def log(self, lease: Lease, lines: Sequence[str]) -> None:
        """Append lines to the journal. Raises Fenced if another node owns the conversation. If this method raises
        Unsure, the lines may already be stored; repeating it may store them twice. A reader of the journal recognises a
        repeated line by the number that it contains."""
        ...

    async def journal(self, conversation: str) -> Sequence[str]: ...

    # -- Nodes and maintenance

    async def enlist(self, node: ServerNode, ttl_ms: int) -> None:
        """Record that this node is running, for `ttl_ms` from now. Raises NameTaken if another running node has the
        same name."""
        ...

    async def leave(self, node: ServerNode) -> None: ...

    async def nodes(self) -> Sequence[ServerNode]:
        """The running nodes, sorted by name."""
        ...

    async def holdings(self, limit: int) -> Sequence[Holding]:
        """Up to `limit` conversations with their owners, the most recently written first."""
        ...

    async def forget(self, conversation: str) -> bool:
        """Delete all data of a conversation, even if the conversation is running on a node. Returns True if there was
        any data."""
        ...

    async def sweep(self, older_than_ms: int) -> int:
        """Delete old conversations: those that weren't written to for `older_than_ms`, and that have either ended or
        have no owner. Returns how many were deleted."""
        ...
