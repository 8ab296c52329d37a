"""What happens to the ownership of a conversation: inputs of its machine, as values.

Rule: an input about a lease names the lease's epoch. An input with another epoch than the current one came too late,
and changes nothing.
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
    """The node is stopping, and this conversation can move now."""


@dataclass(frozen=True, slots=True)
class NodeLeft:
    """The node is stopping: it takes over nothing more."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Time to look after the lease. Comes three times in the life of a lease."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class OrphanListed:
    """The store lists the conversation as without an owner."""


# -- The outcomes of a claim. Exactly one of these follows each claim.


@dataclass(frozen=True, slots=True)
class LeaseGranted:
    """This node has the lease."""

    epoch: int
    until_ms: int
    is_over: bool = False  # the store has the conversation as over


@dataclass(frozen=True, slots=True)
class LeaseRefused:
    """Another node holds the conversation, or the client's key is wrong."""


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
    """The store failed. It is unknown whether the lease was granted."""


# -- The outcomes of restoring. Exactly one of these follows.


@dataclass(frozen=True, slots=True)
class ConversationRestored:
    """The conversation was rebuilt and can run."""


@dataclass(frozen=True, slots=True)
class ConversationUnusable:
    """The stored data can be read, but not be resumed: it is of another version, or has ended."""


@dataclass(frozen=True, slots=True)
class RestoreFailed:
    """The store or the agent failed. Another attempt may work."""


# -- What happens to a lease that this node holds


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """The lease lasts until a later time."""

    epoch: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """The store refused a renewal or a write: another node has claimed the conversation."""

    epoch: int


@dataclass(frozen=True, slots=True)
class WritingFailed:
    """Saving has begun to fail."""

    epoch: int


@dataclass(frozen=True, slots=True)
class WritingWorked:
    """Saving works again."""

    epoch: int


@dataclass(frozen=True, slots=True)
class SavingFinished:
    """The last save is done. `is_saved` is false if the store failed, or if another node has claimed the
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
