"""The store port: saves conversations, so that a crash loses nothing and only one node owns each conversation.

The node that holds a conversation's lease owns it. Every claim increases the epoch, and every write names its
epoch and the revision that it follows, so a former owner can't write any more. The store doesn't interpret a
conversation: its parts are JSON. Any call may raise StoreFailed. Then nothing was changed, unless the error
is Unsure or the docstring of the call says otherwise. Rule: a write is atomic, and durable when the call returns. A
write with an old epoch or a wrong revision raises Fenced and changes nothing.
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
    """The outcome of a call is unknown. Repeating the same call is safe. For `begin` and `log`, see their docstrings
    for the effects of a repeat."""


class Damaged(StoreFailed):
    """The stored data of one conversation can't be read. Other conversations aren't affected."""


class Fenced(DuologueError):
    """Another node owns this conversation now, or has written to it. Stop working on it immediately."""


class Held(DuologueError):
    """Another node holds this conversation and its lease has not expired, or a client passed the wrong key."""


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
    """A conversation as it was last written. `parts` has one JSON value for each part: "machine", "words",
    "dialogue" and so on. A private conversation has no parts that contain words."""

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
    """What the store knows about an action. `output` is set once the action is done."""

    key: str
    progress: ActionProgress
    name: str = ""
    output: Any = None


@dataclass(frozen=True, slots=True)
class OutboxMessage:
    """A message to send once. It is stored in the same write as the parts of the conversation, and it is kept until it
    is marked as sent."""

    topic: str
    body: Any
    id: int = 0  # assigned by the store


@dataclass(frozen=True, slots=True)
class StoreWrite:
    """One transaction. A part that is missing in `parts` stays unchanged, and a part with the value None is removed. A
    conversation that is over stays over, whatever `is_over` says."""

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
    """Which node holds a conversation, and until when."""

    conversation: str
    node: str
    epoch: int
    revision: int
    expires_ms: int  # time until the lease expires, by the store's own clock; negative: expired
    age_ms: int  # time since the conversation was last written
    is_over: bool = False


class Store(Protocol):
    """Saves conversations. Times come from the store's own clock, so that nodes with different clocks agree."""

    async def open(self) -> None:
        """Connect, and migrate the schema. Raises StoreFailed."""
        ...

    async def close(self) -> None: ...

    # -- Owning

    async def claim(
        self, conversation: str, node: str, ttl_ms: int, *, key_hash: str = "", force: bool = False
    ) -> tuple[Lease, StoredConversation]:
        """Become the owner of a conversation, new or stored. The epoch increases, and a store never gives out an epoch
        twice, not even after `forget`. Raises Held while another node's lease lasts, unless `force` is set, which is
        for a client that has come back. `key_hash` is the hash of the client's key. The first hash that is passed is
        stored. From then on, a call with a different hash raises Held, even with `force`. A node that takes over
        without a client passes no `key_hash`."""
        ...

    async def renew(self, leases: Sequence[Lease], ttl_ms: int) -> Sequence[Lease]:
        """Extend these leases. An expired lease can still be extended, unless another node has claimed the
        conversation. Returns the leases that were lost."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease up. Any node may claim the conversation from now on, and this lease can't write any more."""
        ...

    async def orphans(self, limit: int) -> Sequence[str]:
        """Up to `limit` conversations that aren't over and have no valid lease, starting with the one that lost its
        lease first."""
        ...

    # -- Writing

    async def write(self, lease: Lease, revision: int, write: StoreWrite) -> int:
        """Write the successor of this revision. Returns the new revision. Raises Fenced. Repeating a write with the
        same lease and revision returns the same revision and takes effect once. So repeat the write after Unsure."""
        ...

    async def read(self, conversation: str) -> StoredConversation | None: ...

    async def begin(self, lease: Lease, key: str, name: str) -> Receipt:
        """Call this before an action that must not run twice. NEW means that the action should run now. Raises Fenced.
        If a call that raised Unsure is repeated, it may return BEGUN although the action never ran. Only the owner
        can know whether it ran."""
        ...

    async def finish(self, lease: Lease, key: str, output: Any) -> None:
        """Store the output of an action. Raises Fenced, also if a different output is already stored. An action
        for which `begin` was never called counts as done from now on."""
        ...

    async def outbox(self, conversation: str) -> Sequence[OutboxMessage]:
        """The messages that haven't been sent yet, oldest first."""
        ...

    async def sent(self, lease: Lease, ids: Sequence[int]) -> None: ...

    async def log(self, lease: Lease, lines: Sequence[str]) -> None:
        """Append lines to the journal. Raises Fenced. After Unsure, the lines may already be stored. A
        reader of the journal recognises a repeated line by the number that it contains."""
        ...

    async def journal(self, conversation: str) -> Sequence[str]: ...

    # -- Nodes and maintenance

    async def enlist(self, node: ServerNode, ttl_ms: int) -> None:
        """Record a heartbeat of this node, so that it counts as running for `ttl_ms` from now. Raises NameTaken if
        another running instance has its name."""
        ...

    async def leave(self, node: ServerNode) -> None: ...

    async def nodes(self) -> Sequence[ServerNode]:
        """The running nodes, sorted by name."""
        ...

    async def holdings(self, limit: int) -> Sequence[Holding]:
        """Up to `limit` conversations, the most recently written first."""
        ...

    async def forget(self, conversation: str) -> bool:
        """Delete all data of a conversation, even if a node holds it. Returns whether there was any data."""
        ...

    async def sweep(self, older_than_ms: int) -> int:
        """Delete conversations that weren't written for `older_than_ms`, if they are over or if no node holds them.
        Returns how many it deleted."""
        ...
