"""The intents of the ownership machine, as values: what a node (server process) must do about a conversation.

Rule: after each claim, each restore and each last save, exactly one input reports the outcome. For the other intents,
no outcome needs to be reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Answer(Enum):
    """The answer to a client that asked for its conversation."""

    HERE = "here"  # it runs on this node
    MOVED = "moved"  # it is moving to another node: connect again
    GONE = "gone"  # it doesn't exist, has ended, or isn't this client's
    DAMAGED = "damaged"
    LATER = "later"  # it can't be restored right now: connect again


# -- Calls to the store that are answered


@dataclass(frozen=True, slots=True)
class ClaimNew:
    """Claim the lease of a conversation that started here."""


@dataclass(frozen=True, slots=True)
class ClaimOrphan:
    """Read the conversation and claim it, unless another node holds it."""


@dataclass(frozen=True, slots=True)
class ClaimForClient:
    """Read the conversation and claim it with the client's key, even if another node holds it."""


@dataclass(frozen=True, slots=True)
class RestoreConversation:
    """Rebuild the conversation from its stored data."""


@dataclass(frozen=True, slots=True)
class SaveAndRelease:
    """Save the conversation's last state, then release the lease."""

    epoch: int
    is_over: bool


# -- Calls to the store that need no answer


@dataclass(frozen=True, slots=True)
class RenewLease:
    """Renew the lease, together with the node's other leases. The input `LeaseRenewed` or `LeaseLost` may follow."""

    epoch: int


@dataclass(frozen=True, slots=True)
class ReleaseLease:
    """Release a lease under which nothing was written."""

    epoch: int


@dataclass(frozen=True, slots=True)
class MarkOver:
    """Mark the stored conversation as over, leave its data as it is, and release the lease."""

    epoch: int


# -- What is done on the node itself


@dataclass(frozen=True, slots=True)
class SaveFromNowOn:
    """Save the running conversation under its lease from now on."""

    epoch: int


@dataclass(frozen=True, slots=True)
class RunRestored:
    """Run the restored conversation, and save it under its lease from now on."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Freeze:
    """Stop the sound, and every other change of the conversation's state, so that the next node can continue exactly
    from here."""


@dataclass(frozen=True, slots=True)
class Abandon:
    """Stop the conversation on this node without saying goodbye, and disconnect its client, so that the client
    reconnects to the new owner."""

    is_lost: bool  # another node has taken it over; otherwise this node is stopping


@dataclass(frozen=True, slots=True)
class AnswerClient:
    """Answer the clients that wait for this conversation."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class TellUnsaved:
    """Tell the client that the conversation isn't saved right now."""


@dataclass(frozen=True, slots=True)
class TellSaved:
    """Tell the client that the conversation is saved again."""


@dataclass(frozen=True, slots=True)
class ReportDamage:
    """Log that the stored data can't be read."""


@dataclass(frozen=True, slots=True)
class ReportLapse:
    """Log that the lease has expired, because it wasn't renewed in time."""


OwnershipIntent: TypeAlias = (
    ClaimNew
    | ClaimOrphan
    | ClaimForClient
    | RestoreConversation
    | SaveAndRelease
    | RenewLease
    | ReleaseLease
    | MarkOver
    | SaveFromNowOn
    | RunRestored
    | Freeze
    | Abandon
    | AnswerClient
    | TellUnsaved
    | TellSaved
    | ReportDamage
    | ReportLapse
)
