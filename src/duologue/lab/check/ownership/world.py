"""The world of the ownership explorer: two nodes, one conversation, and the store between them, as one value.

Times count down: a lease that lasts 2 ends after two heartbeats. Epochs (the numbers of leases) are replaced by their
ranks, because only their order matters. Rule: a world is a value. The module `moves` says what may happen to it, and
the module `laws` says what must hold.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

from duologue.server.ownership.inputs import LeaseRenewed, OwnershipInput
from duologue.server.ownership.intents import OwnershipIntent
from duologue.server.ownership.places import Ownership, Place

TTL = 2  # heartbeats
NO_OWNER = -1


class Body(Enum):
    """Whether the conversation really runs on a node. The node's ownership may say something else."""

    MISSING = "missing"
    RUNNING = "running"
    FROZEN = "frozen"


class StoreCall(NamedTuple):
    """A call to the store that is under way. `outcome` is the store's answer; None if the call hasn't reached the store
    yet."""

    intent: OwnershipIntent
    until_ms: int  # the end of a lease that is granted or renewed by this call
    outcome: OwnershipInput | None = None


class NodeView(NamedTuple):
    """One node: what it knows, what it really does, and its calls."""

    ownership: Ownership = Ownership()
    body: Body = Body.MISSING
    writer: int = 0  # the epoch under which it writes; 0: it doesn't
    calls: tuple[StoreCall, ...] = ()
    is_waiting: bool = False  # a client waits for an answer
    was_told: bool = False  # the client was told that the conversation isn't saved
    writes_fail: bool = False
    has_run: bool = False
    given_back: int = 0  # the epoch of the lease that it released last
    is_leaving: bool = False


class StoredView(NamedTuple):
    """What the store has saved about the conversation."""

    exists: bool = False
    owner: int = NO_OWNER
    epoch: int = 0
    expires: int = 0
    has_content: bool = False  # it was written at least once
    is_usable: bool = True
    is_over: bool = False
    is_damaged: bool = False
    is_forced: bool = False  # the newest claim was forced by a client

    @property
    def is_resumable(self) -> bool:
        """Could a node continue the stored conversation?"""
        return self.exists and self.has_content and self.is_usable and not self.is_over and not self.is_damaged


NOTHING = StoredView()


class World(NamedTuple):
    """Two nodes and the store."""

    stored: StoredView
    nodes: tuple[NodeView, NodeView]
    has_started: bool = False

    def with_node(self, number: int, node: NodeView) -> World:
        """The same world with this node in the place of the node with this number."""
        first, second = self.nodes
        return self._replace(nodes=(node, second) if number == 0 else (first, node))


def ranked(world: World) -> World:
    """The same world with each epoch replaced by its rank (a small number in the same order), and without facts that
    can't matter any more. So equal situations become equal values."""
    used = {world.stored.epoch, 0}
    for node in world.nodes:
        used |= {node.ownership.epoch, node.writer}
        for call in node.calls:
            used |= {getattr(call.intent, "epoch", 0), getattr(call.outcome, "epoch", 0)}
    ranks = {epoch: rank for rank, epoch in enumerate(sorted(used))}
    stored = world.stored
    if stored.is_forced and len(ranks) <= 2:  # no earlier lease is left
        stored = stored._replace(is_forced=False)
    if stored.epoch != ranks[stored.epoch]:
        stored = stored._replace(epoch=ranks[stored.epoch])
    is_ranked = all(epoch == rank for epoch, rank in ranks.items())
    first, second = (_folded(node) for node in world.nodes)
    if not is_ranked:
        first, second = _ranked_node(first, ranks), _ranked_node(second, ranks)
    return World(stored, (first, second), world.has_started)


def _folded(node: NodeView) -> NodeView:
    """The same node without facts that can't matter any more."""
    own = node.ownership
    if node.given_back and node.given_back != own.epoch:
        node = node._replace(given_back=0)  # that lease is gone
    if own.until_ms and own.place not in (Place.KEPT, Place.RESTORING):
        node = node._replace(ownership=replace(own, until_ms=0))  # only there does the end of a lease matter
    if own.place not in (Place.KEPT, Place.LAPSED, Place.RESTORING):
        kept = tuple(call for call in node.calls if not isinstance(call.outcome, LeaseRenewed))
        node = node if len(kept) == len(node.calls) else node._replace(calls=kept)
    return node


def _ranked_node(node: NodeView, ranks: dict[int, int]) -> NodeView:
    calls = tuple(
        call._replace(intent=_ranked(call.intent, ranks), outcome=_ranked(call.outcome, ranks)) for call in node.calls
    )
    return node._replace(
        ownership=_ranked(node.ownership, ranks),
        writer=ranks[node.writer],
        given_back=ranks[node.given_back],
        calls=calls,
    )


def _ranked(value: Any, ranks: dict[int, int]) -> Any:
    epoch = getattr(value, "epoch", 0)
    if ranks[epoch] == epoch:
        return value
    given = {name: getattr(value, name) for name in value.__dataclass_fields__}
    return type(value)(**(given | {"epoch": ranks[epoch]}))
