"""The world of the ownership explorer: only the order of epochs matters, and facts that can't matter are dropped."""

from __future__ import annotations

from duologue.lab.check.ownership.world import NodeView, StoreCall, StoredView, World, ranked
from duologue.server.ownership.inputs import LeaseGranted, LeaseRenewed
from duologue.server.ownership.intents import ClaimNew, RenewLease
from duologue.server.ownership.places import Ownership, Place


def test_epochs_become_small_and_keep_their_order() -> None:
    old = NodeView(Ownership(Place.KEPT, epoch=70), writer=70)
    new = NodeView(Ownership(Place.CLAIMING), calls=(StoreCall(ClaimNew(), 2, LeaseGranted(900, 2)),))
    world = ranked(World(StoredView(exists=True, epoch=900), (old, new)))
    assert world.stored.epoch == 2
    assert (world.nodes[0].ownership.epoch, world.nodes[0].writer) == (1, 1)
    assert world.nodes[1].calls[0].outcome == LeaseGranted(2, 2)
    assert ranked(world) == world


def test_the_end_of_a_lease_is_dropped_where_it_does_not_matter() -> None:
    renewal = StoreCall(RenewLease(1), 2, LeaseRenewed(1, 2))
    ending = NodeView(Ownership(Place.ENDING, epoch=1, until_ms=2), writer=1, calls=(renewal,), given_back=1)
    kept = NodeView(Ownership(Place.KEPT, epoch=1, until_ms=2), writer=1, calls=(renewal,))
    first, second = ranked(World(StoredView(exists=True, epoch=1), (ending, kept))).nodes
    assert (first.ownership.until_ms, first.calls, first.given_back) == (0, (), 1)
    assert second == kept
