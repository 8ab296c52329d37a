"""Mutants of the ownership machine: each differs in one row, and laws notice them."""

from __future__ import annotations

import pytest

from duologue.lab.check.ownership.check import SCOPES, OwnershipExplorer
from duologue.lab.check.ownership.mutants import ownership_mutants, what_notices
from duologue.server.ownership.machine import OwnershipMachine
from duologue.server.ownership.rows import ROWS

MUTANTS = tuple(ownership_mutants())


def test_each_mutant_differs_in_one_row() -> None:
    for mutant in MUTANTS:
        changed = [row for row in mutant.rows if all(row is not other for other in ROWS)]
        assert len(changed) == (0 if mutant.kind == "drop row" else 1)
        assert len(mutant.rows) == len(ROWS) - (mutant.kind == "drop row")


def test_every_row_guard_and_action_is_dropped_once() -> None:
    kinds = [mutant.kind for mutant in MUTANTS]
    assert kinds.count("drop row") == kinds.count("redirect row") == len(ROWS)
    assert kinds.count("drop guard") == sum(row.when is not None for row in ROWS)
    actions = {action.__name__ for row in ROWS for action in row.do}
    assert sum(kind.removeprefix("drop ") in actions for kind in kinds) == sum(len(row.do) for row in ROWS)


def test_promises_and_laws_notice_at_least_95_percent() -> None:
    unnoticed = [f"{mutant.kind}: {mutant.row}" for mutant in MUTANTS if not what_notices(mutant, ())]
    assert len(unnoticed) <= 0.05 * len(MUTANTS), unnoticed


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("drop row", "absent + ConversationStarted -> claiming"),
        ("drop answer_gone", "reclaiming + LeaseRefused -> elsewhere"),
        (
            "drop input RestoreFailed",
            "returning + ConversationRestored/ConversationUnusable/RestoreFailed -> elsewhere",
        ),
    ],
)
def test_laws_alone_notice_a_mutant_too(kind: str, row: str) -> None:
    (mutant,) = [one for one in MUTANTS if (one.kind, one.row) == (kind, row)]
    machine = OwnershipMachine(mutant.rows)
    assert any(OwnershipExplorer(scope, machine, violations_max=1).run().violations for scope in SCOPES[:4])
