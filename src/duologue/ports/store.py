"""The store port: where conversations are kept, so that a crash loses nothing and one node at a time owns each.

A conversation belongs to whoever holds its lease. Every claim moves the epoch on, and every write carries the
epoch and the revision that it follows, so an owner that was overtaken can write nothing more. What a
conversation consists of is not known here: parts are JSON. Rule: what was written is durable when the call
returns, all of it or nothing; a write of an old epoch or out of turn raises Fenced and changes nothing. Any call
may raise StoreFailed: then nothing was changed, unless it is Unsure or says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from duologue.core.errors import DuologueError


class StoreFailed(DuologueError):
    """The store can't be used. The message says why and what to do, and holds no credential."""


class Unsure(StoreFailed):
    """The answer was lost, so whether it was done isn't known. To ask the same again is safe: it is done once."""


class Damaged(StoreFailed):
    """What is kept of one conversation can't be read. Every other conversation is as it was."""


class Fenced(DuologueError):
    """Somebody else owns this conversation now, or has written meanwhile: stop at once."""


class Held(DuologueError):
    """Another node holds this conversation, and its lease has not run out."""


class NameTaken(DuologueError):
    """Another node that is alive has this name."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write, until somebody else claims it."""

    conversation: str
    node: str
    epoch: int


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A conversation as it was last written. `parts` has one JSON value for each part: "machine", "words",
    "dialogue" and so on; a private conversation has none with words in it."""

    conversation: str
    epoch: int
    revision: int
    parts: Mapping[str, Any] = field(default_factory=dict)
    key_hash: str = ""
    is_over: bool = False


class ActionProgress(Enum):
    """How far an action is that may run once."""

    NEW = "new"  # nobody has begun it: now you have
    BEGUN = "begun"  # somebody began it and has not said how it ended
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is known of an action. `output` is there when it is done."""

    key: str
    progress: ActionProgress
    name: str = ""
    output: Any = None


@dataclass(frozen=True, slots=True)
class OutboxMessage:
    """Something that goes out once: kept with the checkpoint that decided on it, until somebody has sent it."""

    topic: str
    body: Any
    id: int = 0  # given by the store


@dataclass(frozen=True, slots=True)
class StoreWrite:
    """One transaction. Parts that are not named stay as they are; None removes one. A conversation that is over
    stays over."""

    parts: Mapping[str, Any]
    done: Sequence[tuple[str, Any]] = ()  # receipts that are complete: key and output
    messages: Sequence[OutboxMessage] = ()
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class ServerNode:
    """A server. `instance` tells two of one name apart."""

    name: str
    instance: str
    address: str = ""
    conversations: int = 0
    alive_ms: int = 0  # since it was last heard of, by the store's own clock


@dataclass(frozen=True, slots=True)
class Holding:
    """Who holds what."""

    conversation: str
    node: str
    epoch: int
    revision: int
    expires_ms: int  # until its lease runs out, by the store's own clock; negative: it has
    age_ms: int  # since it was last written
    is_over: bool = False


class Store(Protocol):
    """Times are told by the store's own clock, so nodes whose clocks differ agree."""

    async def open(self) -> None:
        """Connect, and bring the schema up to date. Raises StoreFailed."""
        ...

    async def close(self) -> None: ...

    # -- Owning

    async def claim(
        self, conversation: str, node: str, ttl_ms: int, *, key_hash: str = "", force: bool = False
    ) -> tuple[Lease, StoredConversation]:
        """Own a conversation, new or old. The epoch moves on; no epoch is ever given twice in one store, not even
        after `forget`. `force`: its client has come back, so whoever holds it is overtaken; otherwise Held is
        raised while another's lease lasts. A wrong `key_hash` for one that has another raises Held too, `force` or
        not; the first one given is kept. A node that takes over on its own gives none."""
        ...

    async def renew(self, leases: Sequence[Lease], ttl_ms: int) -> Sequence[Lease]:
        """Keep them, even late, as long as nobody else has claimed them. Returns those that were lost."""
        ...

    async def release(self, lease: Lease) -> None:
        """Let go: anybody may claim it at once. This lease writes no more."""
        ...

    async def orphans(self, limit: int) -> Sequence[str]:
        """Conversations that are not over and whose lease has run out or was released, the longest so first."""
        ...

    # -- Writing

    async def write(self, lease: Lease, revision: int, write: StoreWrite) -> int:
        """Write what follows this revision. Returns the new one. Raises Fenced. The same write again, of the same
        lease after the same revision, has the same answer and is done once: so after Unsure, ask again."""
        ...

    async def read(self, conversation: str) -> StoredConversation | None: ...

    async def begin(self, lease: Lease, key: str, name: str) -> Receipt:
        """About to do something that must not be done twice. NEW means: do it. Raises Fenced. After Unsure it may
        be BEGUN though nobody has done anything: only its owner knows."""
        ...

    async def finish(self, lease: Lease, key: str, output: Any) -> None:
        """It is done, and this came of it. Raises Fenced; an action is finished once, and another output raises
        Fenced too. One that nobody began is done from now on."""
        ...

    async def outbox(self, conversation: str) -> Sequence[OutboxMessage]:
        """What has still to be sent, oldest first."""
        ...

    async def sent(self, lease: Lease, ids: Sequence[int]) -> None: ...

    async def log(self, lease: Lease, lines: Sequence[str]) -> None:
        """Lines of the journal, in order; fenced like any write. After Unsure they may be there already: lines that
        are logged again carry their own numbers."""
        ...

    async def journal(self, conversation: str) -> Sequence[str]: ...

    # -- Looking after it

    async def enlist(self, node: ServerNode, ttl_ms: int) -> None:
        """This node is alive. Raises NameTaken if another instance of this name is."""
        ...

    async def leave(self, node: ServerNode) -> None: ...

    async def nodes(self) -> Sequence[ServerNode]:
        """Those that are alive, by name."""
        ...

    async def holdings(self, limit: int) -> Sequence[Holding]:
        """All conversations, those first that were written last."""
        ...

    async def forget(self, conversation: str) -> bool:
        """Delete every trace of it, whoever holds it. Returns whether there was any."""
        ...

    async def sweep(self, older_than_ms: int) -> int:
        """Delete conversations that are over and were last written so long ago. Returns how many."""
        ...
