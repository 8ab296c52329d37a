"""One stored conversation that a node knows: its ownership, and the objects with which intents are performed.

Rule: `ownership` alone decides what may be done; the other fields are only used to do it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from duologue.core.errors import DuologueError
from duologue.ports.store import Lease, StoredConversation
from duologue.runtime.checkpoint_writer import CheckpointWriter

from .ownership.intents import Answer
from .ownership.places import Ownership

if TYPE_CHECKING:
    from .served_conversation import ServedConversation


@dataclass(slots=True, eq=False)
class KnownConversation:
    """The ownership and the objects that a node holds for one conversation."""

    id: str
    ownership: Ownership = field(default_factory=Ownership)
    served: ServedConversation | None = None  # the newest that ran here
    restored: ServedConversation | None = None  # rebuilt, and not running yet
    writer: CheckpointWriter | None = None
    claimed: tuple[Lease, StoredConversation] | None = None  # the newest lease, and what was stored when it was granted
    dialogue: dict[str, Any] | None = None  # the state of the brain
    hello: dict[str, Any] | None = None  # of the client that waits
    proven: dict[str, Any] | None = None  # the hello whose key the store has accepted
    waiting: list[asyncio.Future[Answer]] = field(default_factory=list)
    work: set[asyncio.Task[None]] = field(default_factory=set)  # calls to the store, and the abandoning
    problem: DuologueError | None = None  # the newest failure of the store, for the log

    @property
    def here(self) -> ServedConversation:
        """The conversation that runs here, or ran here last."""
        assert self.served is not None, "it never ran here"
        return self.served

    @property
    def lease(self) -> Lease:
        """The newest lease."""
        assert self.claimed is not None, "it was never claimed"
        return self.claimed[0]

    @property
    def stored(self) -> StoredConversation:
        """What was stored when the newest lease was granted."""
        assert self.claimed is not None, "it was never claimed"
        return self.claimed[1]

    @property
    def is_private(self) -> bool:
        """Is it forbidden to store the words of this conversation?"""
        return self.served is not None and self.served.conversation.agent.private

    def answer(self, answer: Answer) -> None:
        """Give this answer to all clients that wait."""
        waiting, self.waiting = self.waiting, []
        for client in waiting:
            if not client.done():  # its socket may be gone
                client.set_result(answer)

    async def finish(self) -> None:
        """Wait until all calls to the store and other work have ended."""
        while self.work:
            await asyncio.wait(self.work)
