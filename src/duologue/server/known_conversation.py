"""What a node (server process) knows about one stored conversation: its ownership state, and the objects that are
needed to act on it.

Rule: only the field `ownership` decides what may be done; the other fields are only used to do it.
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
    """The ownership state of one conversation, and the objects that this node holds for it."""

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
        """The object of the conversation on this node: the one that runs here now, otherwise the one that ran here
        last."""
        assert self.served is not None, "it never ran here"
        return self.served

    @property
    def lease(self) -> Lease:
        """The newest lease."""
        assert self.claimed is not None, "it was never claimed"
        return self.claimed[0]

    @property
    def stored(self) -> StoredConversation:
        """The conversation's stored data at the moment at which the newest lease was granted."""
        assert self.claimed is not None, "it was never claimed"
        return self.claimed[1]

    @property
    def is_private(self) -> bool:
        """Is the agent private, so that the words of this conversation must not be stored?"""
        return self.served is not None and self.served.conversation.agent.private

    def answer(self, answer: Answer) -> None:
        """Give this answer to all clients that wait for this conversation."""
        waiting, self.waiting = self.waiting, []
        for client in waiting:
            if not client.done():  # its socket may be gone
                client.set_result(answer)

    async def finish(self) -> None:
        """Wait until all work for this conversation, such as calls to the store, has ended."""
        while self.work:
            await asyncio.wait(self.work)
