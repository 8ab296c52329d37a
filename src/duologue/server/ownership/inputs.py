"""The inputs of the ownership machine, as values: everything that can change which node (server process) owns a
conversation.

Rule: an input about a lease contains the lease's epoch (its number). If that isn't the epoch of the current lease, the
input came too late and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# -- What the conversation, its client and the node do


@dataclass(frozen=True, slots=True)
class ConversationStarted:
    """A new conversation starts on this node."""


@dataclass(frozen=True, slots=True)
class ConversationEnded:
    """The conversation has ended on this node."""


@dataclass(frozen=True, slots=True)
class ClientAsked:
    """A client reconnected to this node and asks for the conversation."""


@dataclass(frozen=True, slots=True)
class HandOverRequested:
    """The node is stopping, and this conversation can now be handed over to another node."""


@dataclass(frozen=True, slots=True)
class NodeLeft:
    """The node is stopping, so it takes over no more conversations."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """It is time to check or renew the lease. This input comes three times in the lifetime of a lease."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class OrphanListed:
    """The store lists this conversation as one that has no owner."""


# -- The outcomes of a claim. Exactly one of these follows each claim.


@dataclass(frozen=True, slots=True)
class LeaseGranted:
    """The store has granted the lease to this node."""

    epoch: int
    until_ms: int
    is_over: bool = False  # the store has the conversation as over


@dataclass(frozen=True, slots=True)
class LeaseRefused:
    """The store has refused the lease: another node holds the conversation, or the client's key is wrong."""


@dataclass(frozen=True, slots=True)
class NothingStored:
    """The store doesn't have the conversation, or has it marked as over."""


@dataclass(frozen=True, slots=True)
class StoredForAnother:
    """The stored conversation belongs to another agent."""


@dataclass(frozen=True, slots=True)
class StoredDamaged:
    """The stored data can't be read."""


@dataclass(frozen=True, slots=True)
class StoreUnreachable:
    """The store failed while the lease was claimed. It is unknown whether the lease was granted."""


# -- The outcomes of restoring. Exactly one of these follows.


@dataclass(frozen=True, slots=True)
class ConversationRestored:
    """The conversation was rebuilt from its stored data, and can run."""


@dataclass(frozen=True, slots=True)
class ConversationUnusable:
    """The stored data can be read, but the conversation can't be resumed: its data has a version that this node doesn't
    support, or the conversation has ended."""


@dataclass(frozen=True, slots=True)
class RestoreFailed:
    """The conversation couldn't be rebuilt, because the store or the agent failed. Another attempt may work."""


# -- What happens to a lease that this node holds


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """The store has renewed the lease, which now lasts longer."""

    epoch: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """The store refused a renewal or a write: another node has claimed the conversation."""

    epoch: int


@dataclass(frozen=True, slots=True)
class WritingFailed:
    """Saving the conversation worked before, and fails now."""

    epoch: int


@dataclass(frozen=True, slots=True)
class WritingWorked:
    """Saving the conversation works again after failures."""

    epoch: int


@dataclass(frozen=True, slots=True)
class SavingFinished:
    """The last save on this node is done. `is_saved` is false if the store failed, or if another node has claimed the
    conversation."""

    is_saved: bool


OwnershipInput: TypeAlias = (
    ConversationStarted
    | ConversationEnded
    | ClientAsked
    | HandOverRequested
    | NodeLeft
    | Heartbeat
    | OrphanListed
    | LeaseGranted
    | LeaseRefused
    | NothingStored
    | StoredForAnother
    | StoredDamaged
    | StoreUnreachable
    | ConversationRestored
    | ConversationUnusable
    | RestoreFailed
    | LeaseRenewed
    | LeaseLost
    | WritingFailed
    | WritingWorked
    | SavingFinished
)
