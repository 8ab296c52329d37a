"""What may happen in the world of the ownership explorer, and that calls may fail at every point."""

from __future__ import annotations

from duologue.lab.check.ownership.moves import Mover, OwnershipScope, is_owned
from duologue.lab.check.ownership.world import NOTHING, TTL, Body, NodeView, StoredView, World
from duologue.server.ownership.places import Ownership, Place

START = World(NOTHING, (NodeView(), NodeView()))


def follow(scope: OwnershipScope, *names: str, start: World = START) -> World:
    """The world after the moves with these names, or beginnings of names."""
    world = start
    for name in names:
        found = [after for move, after, _ in Mover(scope).moves(world) if move.name.startswith(name)]
        assert found, (name, [move.name for move, _, _ in Mover(scope).moves(world)])
        world = found[0]
    return world


def test_a_conversation_starts_and_is_kept() -> None:
    scope = OwnershipScope("plain")
    world = follow(scope, "A: a conversation starts", "A: the store gets ClaimNew", "A: the answer", "A: a write")
    assert world.nodes[0].ownership.place is Place.KEPT
    assert world.stored == StoredView(exists=True, owner=0, epoch=1, expires=TTL, has_content=True)
    assert is_owned(world)


def test_an_answer_that_is_lost_leaves_the_lease_in_the_store() -> None:
    scope = OwnershipScope("fails", fails=(0,))
    world = follow(scope, "A: a conversation starts", "A: the store gets ClaimNew", "A: ClaimNew fails")
    assert world.stored.owner == 0
    assert world.nodes[0].ownership.place is Place.UNKEPT
    assert not is_owned(world)


def test_only_the_nodes_of_the_scope_fail_crash_and_leave() -> None:
    kept = follow(OwnershipScope("plain"), "A: a conversation starts", "A: the store gets ClaimNew", "A: the answer")
    names = {move.name for move, _, _ in Mover(OwnershipScope("plain")).moves(kept)}
    assert names == {"time passes", "A: a write"}
    wide = OwnershipScope("wide", asks=(1,), ends=(0,), fails=(0,), crashes=(0,), leaves=(0,))
    more = {move.name for move, _, _ in Mover(wide).moves(kept)} - names
    assert more == {
        "A: the conversation ends",
        "A: the node is stopping",
        "A: crashes and restarts",
        "B: the client asks",
        "time passes, and a renewal fails",
    }


def test_leases_end_with_time_unless_they_are_renewed() -> None:
    kept = NodeView(Ownership(Place.KEPT, 1, TTL, has_run=True), Body.RUNNING, 1, has_run=True)
    world = World(StoredView(True, 0, 1, TTL, True), (kept, NodeView()), True)
    scope = OwnershipScope("fails", fails=(0,))
    failed = follow(scope, *["time passes, and a renewal fails"] * TTL, start=world)
    assert (failed.stored.expires, failed.nodes[0].ownership.place) == (0, Place.LAPSED)
    renewed = follow(scope, *["time passes", "A: the answer to RenewLease"] * TTL, start=world)
    assert (renewed.stored.expires, renewed.nodes[0].ownership.place) == (TTL, Place.KEPT)
