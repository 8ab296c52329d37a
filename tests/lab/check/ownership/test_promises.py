"""The promises of ownership: the machine fulfils them, every row is promised, and a broken one is named."""

from __future__ import annotations

from duologue.lab.check.ownership.promises import PROMISES, broken_promises, sample
from duologue.server.ownership import inputs as on
from duologue.server.ownership.machine import MACHINE, OwnershipMachine
from duologue.server.ownership.places import Place
from duologue.server.ownership.rows import ROWS


def test_the_machine_fulfils_every_promise() -> None:
    assert not list(broken_promises(MACHINE))


def test_every_row_is_promised() -> None:
    taken = {
        row.name
        for promise in PROMISES
        for place in promise.places
        if (row := MACHINE.row_for(sample(place, promise.asked, promise.unsaved), promise.given)) is not None
    }
    assert taken == {row.name for row in ROWS}


def test_a_dropped_row_breaks_a_promise() -> None:
    deaf = OwnershipMachine(row for row in ROWS if row.on != (on.HandOverRequested,) or Place.KEPT not in row.sources)
    assert sorted(broken_promises(deaf)) == [
        "kept + HandOverRequested causes nothing",
        "kept + HandOverRequested leads to kept",
        "lapsed + HandOverRequested causes nothing",
        "lapsed + HandOverRequested leads to lapsed",
    ]


def test_a_row_that_is_not_promised_breaks_a_promise() -> None:
    eager = OwnershipMachine((*ROWS, ROWS[0].__class__((Place.FOREIGN,), (on.OrphanListed,), Place.ADOPTING)))
    assert list(broken_promises(eager)) == ["foreign + OrphanListed changes something"]
