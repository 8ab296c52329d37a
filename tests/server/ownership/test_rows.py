"""The table of ownership: complete where it must be, and without rows that can't be reached."""

from __future__ import annotations

import pytest

from duologue.server.ownership import inputs as on
from duologue.server.ownership.machine import MACHINE
from duologue.server.ownership.places import WAITING, Ownership, Place
from duologue.server.ownership.rows import ROWS

CLAIMED = (
    on.LeaseGranted(1, 1),
    on.LeaseRefused(),
    on.NothingStored(),
    on.StoredForAnother(),
    on.StoredDamaged(),
    on.StoreUnreachable(),
)
RESTORED = (on.ConversationRestored(), on.ConversationUnusable(), on.RestoreFailed())
OUTCOMES: dict[Place, tuple[on.OwnershipInput, ...]] = {
    Place.CLAIMING: CLAIMED,
    Place.CLEARING: CLAIMED,
    Place.ADOPTING: CLAIMED,
    Place.RECLAIMING: CLAIMED,
    Place.RESTORING: RESTORED,
    Place.RETURNING: (*CLAIMED, *RESTORED),
    Place.HANDING_OVER: (on.SavingFinished(True), on.SavingFinished(False)),
    Place.ENDING: (on.SavingFinished(True), on.SavingFinished(False)),
}


@pytest.mark.parametrize("place", WAITING)
def test_a_place_that_waits_is_left_by_every_outcome(place: Place) -> None:
    for outcome in OUTCOMES[place]:
        state, _ = MACHINE.step(Ownership(place, epoch=1), outcome)
        assert state.place is not place, type(outcome).__name__


@pytest.mark.parametrize("place", Place)
def test_a_client_that_asks_is_answered_or_waits_in_every_place(place: Place) -> None:
    row = MACHINE.row_for(Ownership(place), on.ClientAsked())
    assert row is not None


def test_each_row_has_a_name_of_its_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


def test_no_row_is_hidden_by_an_earlier_row_without_a_guard() -> None:
    taken: set[tuple[Place, type]] = set()
    for row in ROWS:
        cells = {(source, kind) for source in row.sources for kind in row.on}
        assert cells - taken, row.name
        if row.when is None:
            taken |= cells
