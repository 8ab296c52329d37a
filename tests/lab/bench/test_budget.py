"""A budget compares a number with its limit, and shows both in a row."""

from __future__ import annotations

import pytest

from duologue.lab.bench.budget import Budget
from duologue.lab.bench.core import BUDGETS

COST = Budget("cost_ms", "the cost", 12, "ms")
RATIO = Budget("ratio", "the ratio", 4, "x", at_least=True)


def test_a_budget_for_costs_is_a_ceiling_and_one_for_ratios_a_floor() -> None:
    budgets = {budget.key: budget for budget in BUDGETS}
    assert budgets["us_per_transition"].holds(12)
    assert not budgets["us_per_transition"].holds(12.1)
    assert budgets["ratio_transitions"].holds(1)
    assert not budgets["ratio_transitions"].holds(0.9)


@pytest.mark.parametrize(
    ("budget", "value", "row"),
    [
        (COST, 11.5, ("the cost", "11.50 ms", "≤ 12 ms")),
        (COST, 13, ("the cost", "13 ms", "≤ 12 ms (missed)")),
        (RATIO, 5.0, ("the ratio", "5.00 x", "≥ 4 x")),
        (RATIO, 3.0, ("the ratio", "3.00 x", "≥ 4 x (missed)")),
    ],
)
def test_a_row_shows_the_number_the_limit_and_whether_it_was_missed(
    budget: Budget, value: float, row: tuple[str, str, str]
) -> None:
    result = {budget.key: value, "within_budget": {budget.key: budget.holds(value)}}
    assert budget.row(result) == row
