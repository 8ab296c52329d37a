"""The exploration of ownership: no law is broken, every row fires, and broken machines are noticed with a trace."""

from __future__ import annotations

import json

import pytest

from duologue.lab.check.core.check import Violation
from duologue.lab.check.ownership.check import (
    EVERY_ROW_FIRES,
    QUICK_STATES_MAX,
    SCOPES,
    OwnershipExplorer,
    OwnershipFindings,
    explore_scope,
    sum_up_ownership,
)
from duologue.lab.check.ownership.laws import NEVER_STUCK, ONE_OWNER
from duologue.server.ownership import inputs as on
from duologue.server.ownership.machine import OwnershipMachine
from duologue.server.ownership.places import Place
from duologue.server.ownership.rows import ROWS

QUICK = ("another agent", "unusable", "damage")


@pytest.mark.req("D-14")
@pytest.mark.parametrize("name", QUICK)
def test_no_law_is_broken(name: str) -> None:
    found = explore_scope(([scope.name for scope in SCOPES].index(name), "small"))
    assert found.complete
    assert found.states > 1_000
    assert not found.violations


def test_a_quick_exploration_stops_early_and_says_how_far_it_went() -> None:
    found = explore_scope((1, "quick"))
    assert not found.complete
    assert QUICK_STATES_MAX < found.states < 2 * QUICK_STATES_MAX
    assert found.depth > 1


def test_a_node_that_goes_on_without_its_lease_is_noticed_with_a_trace() -> None:
    deaf = OwnershipMachine(row for row in ROWS if row.on != (on.LeaseLost,) or Place.KEPT not in row.sources)
    moves = next(scope for scope in SCOPES if scope.name == "ends")
    found = OwnershipExplorer(moves, deaf, violations_max=1).run()
    (violation,) = found.violations
    assert violation.law == ONE_OWNER
    assert violation.trace[0] == "A: a conversation starts"
    assert violation.trace[-1] == "A: a write is refused"


def test_an_orphan_that_is_never_taken_over_is_noticed() -> None:
    lazy = OwnershipMachine(row for row in ROWS if on.OrphanListed not in row.on)
    damage = next(scope for scope in SCOPES if scope.name == "damage")
    found = OwnershipExplorer(damage, lazy).run()
    assert NEVER_STUCK in {one.law for one in found.violations}


def test_a_row_that_never_fired_is_a_violation_if_all_scopes_were_explored() -> None:
    rows = {row.name for row in ROWS}
    found = [OwnershipFindings(scope.name, states=2, steps=3, rows=set(rows)) for scope in SCOPES]
    assert not sum_up_ownership(found).violations
    for one in found:
        one.rows.discard(ROWS[0].name)
    assert sum_up_ownership(found).violations == (Violation(EVERY_ROW_FIRES, ROWS[0].name, ()),)
    assert not sum_up_ownership(found[1:]).violations


def test_the_report_is_json() -> None:
    data = json.loads(json.dumps(sum_up_ownership([OwnershipFindings("ends", states=2, steps=3)]).to_json()))
    assert (data["states"], data["steps"], data["violations"], data["rows_fired"]) == (2, 3, 0, 0)
    assert data["explorations"][0]["scope"] == "ends"
