"""What every view promises: total, no unknown state, and amendments that its table needs."""

from __future__ import annotations

import pytest

from duologue.core.state import State
from duologue.core.views import VIEWS, Amendment, Impossible, View
from tests.core.scenes import speaking


def test_a_view_allows_the_moves_of_its_table_and_of_its_amendments_and_no_others() -> None:
    def see(s: State) -> str:
        return "on"

    view = View("lamp", ("on", "off"), see, {"off": ("on",)}, (Amendment("on", "off", "it breaks"),), ())
    assert view.source_moves() == (("off", "on"),)
    assert view.allowed() == {("off", "on"), ("on", "off")}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_every_move_of_a_view_is_between_its_states_and_has_its_reason(view: View) -> None:
    assert {state for move in view.allowed() for state in move} <= set(view.states)
    for entry in (*view.amendments, *view.impossible):
        assert entry.why


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_an_amendment_is_not_in_the_table_and_an_impossible_move_is(view: View) -> None:
    table = view.source_moves()
    assert not [amendment for amendment in view.amendments if (amendment.source, amendment.target) in table]
    moves: tuple[Impossible, ...] = view.impossible
    assert all((move.source, move.target) in table for move in moves)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_a_call_visits_only_known_states_by_allowed_moves(view: View) -> None:
    stage = speaking()
    stage.finish()
    for record in stage.records:
        before, after = view.see(record.before), view.see(record.after)
        assert after in view.states
        assert before == after or (before, after) in view.allowed()
