"""What one node (server process) knows about the ownership of a stored conversation, as one frozen value: its place
(for example: running here, claimed, or on another node) and a few facts.

The value says whether the conversation runs on this node, whether it is saved, and under which lease. It has no
references to sockets, the store or tasks. Rule: everything that the node decides about a stored conversation is decided
from this value.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Place(Enum):
    """Where the conversation is, from this node's view. In the places of `WAITING`, exactly one call to the store is
    running; in all others, none. `MEANINGS` explains each place."""

    ABSENT = "absent"
    CLAIMING = "claiming"
    UNKEPT = "unkept"
    UNKEEPABLE = "unkeepable"
    KEPT = "kept"
    LAPSED = "lapsed"
    HANDING_OVER = "handing over"
    ENDING = "ending"
    OVER = "over"
    CLEARING = "clearing"
    ADOPTING = "adopting"
    RECLAIMING = "reclaiming"
    RESTORING = "restoring"
    RETURNING = "returning"
    ELSEWHERE = "elsewhere"
    DAMAGED = "damaged"
    FOREIGN = "foreign"


P = Place
MEANINGS: dict[Place, str] = {
    P.ABSENT: "this node knows nothing of the conversation",
    P.CLAIMING: "the conversation runs here, and its lease is being claimed",
    P.UNKEPT: "the store failed, so the conversation runs here without a lease; each heartbeat claims one",
    P.UNKEEPABLE: "the conversation runs here, but is marked as over in the store, so it can't be saved any more",
    P.KEPT: "the conversation runs here and is saved under a lease",
    P.LAPSED: "the conversation runs here, but its lease wasn't renewed in time: another node may take it over",
    P.HANDING_OVER: "silent here; the last state is being saved for another node, then the lease is released",
    P.ENDING: "the conversation has ended; this is being saved, then its lease is released",
    P.OVER: "the conversation has ended here",
    P.CLEARING: "it ended during the claim of its lease; if the lease is granted, it is marked as over",
    P.ADOPTING: "the owner is gone, and this node claims the conversation",
    P.RECLAIMING: "the client has come to this node, which claims the conversation from its owner",
    P.RESTORING: "this node has the lease and rebuilds the conversation, which doesn't run yet",
    P.RETURNING: "not needed here any more; the lease is released when the running claim or restore is done",
    P.ELSEWHERE: "the conversation isn't here; another node may have it",
    P.DAMAGED: "the stored data can't be read; the conversation isn't taken over, and nothing is written",
    P.FOREIGN: "the conversation belongs to another agent",
}
WAITING = (P.CLAIMING, P.CLEARING, P.ADOPTING, P.RECLAIMING, P.RESTORING, P.RETURNING, P.HANDING_OVER, P.ENDING)
UNLEASED = (P.CLAIMING, P.UNKEPT, P.UNKEEPABLE)
RUNNING = (*UNLEASED, P.KEPT, P.LAPSED)
WRITING = (P.KEPT, P.LAPSED, P.HANDING_OVER, P.ENDING)  # with a checkpoint writer
LEASED = (*WRITING, P.RESTORING)
SERVED = (*RUNNING, P.HANDING_OVER, P.ENDING)
SKIPPED = (P.DAMAGED, P.FOREIGN)  # not taken over, so the store keeps listing them as without an owner


class Acting(Enum):
    """Whether this node may perform an action of the conversation, such as a payment, and whether the action is
    recorded in the store."""

    UNSAVED = "unsaved"  # without a record in the store
    RECORDED = "recorded"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Ownership:
    """What one node knows about one conversation."""

    place: Place = Place.ABSENT
    epoch: int = 0  # of the lease that this node holds; 0: no lease
    until_ms: int = 0  # when that lease ends, unless it is renewed
    is_asked: bool = False  # a client waits for an answer
    is_unsaved: bool = False  # the client was told that the conversation isn't saved
    has_run: bool = False  # it ran on this node: tasks of it may still be running

    @property
    def acting(self) -> Acting:
        """Whether and how actions of the conversation, such as a payment, may be performed now. They are refused if the
        conversation has left this node, even if one of its tasks is still running here. The actions of a conversation
        that isn't stored, such as a phone call, are performed without a record in the store."""
        if self.place in WRITING:
            return Acting.RECORDED
        return Acting.UNSAVED if self.place in (*UNLEASED, P.ABSENT) else Acting.REFUSED

    @property
    def is_forgettable(self) -> bool:
        """May the node forget this value? Once it is forgotten, the conversation counts as ABSENT."""
        return self.place in (P.ABSENT, P.ELSEWHERE, P.OVER) and not self.has_run
