"""States form a hierarchy: parallel regions, composites of leaves in each, and rows for whole composites."""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.core import leaves
from duologue.core.leaves import ACTIVE, AWAY, CLOSED, DEAD, ENDING, FROZEN, LIVE, PENDING, SOUNDING, Leaf, Link
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage

COMPOSITES: dict[str, tuple[Leaf, ...]] = {
    "frozen": FROZEN,
    "live": LIVE,
    "dead": DEAD,
    "away": AWAY,
    "closed": CLOSED,
    "active": ACTIVE,
    "sounding": SOUNDING,
    "ending": ENDING,
    "pending": PENDING,
}


@pytest.mark.req("C-PAT-001")
@pytest.mark.parametrize("name", COMPOSITES)
def test_a_composite_is_part_of_one_region(name: str) -> None:
    assert len({type(leaf) for leaf in COMPOSITES[name]}) == 1
    assert len(set(COMPOSITES[name])) == len(COMPOSITES[name]) > 1


@pytest.mark.req("C-PAT-001")
def test_composites_nest_and_split_a_region() -> None:
    assert set(FROZEN) < set(LIVE) < set(ACTIVE)
    assert set(AWAY) < set(DEAD)
    assert set(LIVE) | set(DEAD) == set(ACTIVE) | set(CLOSED) == set(Link)
    assert not set(LIVE) & set(DEAD)
    assert not set(ACTIVE) & set(CLOSED)


@pytest.mark.req("C-PAT-001")
@pytest.mark.parametrize("paused", [False, True])
def test_what_holds_for_a_composite_holds_in_each_of_its_leaves(paused: bool) -> None:
    """Ending is written once, for everything that is active."""
    stage = Stage(profile("confirm", dead_air_ms=0))
    stage.start()
    stage.say()
    if paused:
        stage.happen(ev.SuspendRequested)
        assert stage.state.link in leaves.FROZEN
    stage.happen(ev.EndRequested)
    assert stage.state.link in CLOSED
