"""Places: each has a meaning, and says how actions of the conversation may be performed."""

from __future__ import annotations

import pytest

from duologue.server.ownership.places import MEANINGS, RUNNING, WAITING, WRITING, Acting, Ownership, Place


def test_every_place_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Place)


@pytest.mark.parametrize("place", Place)
def test_an_action_is_recorded_where_the_conversation_is_saved_and_refused_where_it_has_left(place: Place) -> None:
    acting = Ownership(place, has_run=True).acting
    if place in WRITING:
        assert acting is Acting.RECORDED
    elif place in RUNNING or place is Place.ABSENT:
        assert acting is Acting.UNSAVED
    else:
        assert acting is Acting.REFUSED


def test_only_a_conversation_that_never_ran_here_is_forgotten() -> None:
    assert Ownership(Place.ELSEWHERE).is_forgettable
    assert not Ownership(Place.ELSEWHERE, has_run=True).is_forgettable
    assert not any(Ownership(place).is_forgettable for place in WAITING)
    assert not Ownership(Place.DAMAGED).is_forgettable, "it is listed as without an owner again and again"
