"""Comparisons that no answer can make true are reported."""

from __future__ import annotations

import pytest

from tests.flows.flow_problems import problems_of


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("amount > 500", "slot 'amount' holds an amount with its currency; to compare it, add a normaliser that "),
        ('count > "5"', "slot 'count' holds a number and is never '5'"),
        ("count == true", "slot 'count' holds a number and is never true"),
        ("sure == 1", "slot 'sure' holds true or false and is never 1"),
        ("day > 5", "slot 'day' holds a text and is never 5"),
        ('seat == "isle"', "'isle' isn't a choice of slot 'seat'; did you mean 'aisle'?"),
        ('seat in ["window", "isle"]', "'isle' isn't a choice of slot 'seat'; did you mean 'aisle'?"),
        ("amount * 2 > count", "slot 'amount' has type money; a calculation needs numbers"),
        ("count + free * 2 > 5", ""),
        ("1 < count < -5 and sure == true and not amount", ""),
        ('seat == "aisle" or seat == "dontcare" or day is None', ""),
        ('free == "anything" and given > 5', ""),
    ],
)
def test_a_condition_that_is_never_true_is_reported(condition: str, expected: str) -> None:
    slots = {"amount": "money", "count": "number", "sure": "yes_no", "day": "date", "free": "number", "given": "text"}
    lines = ["version: 1", "slots:", *(f"  {name}: {{type: {kind}, prompt: x}}" for name, kind in slots.items())]
    lines += ["  seat: {type: choice, prompt: x, choices: [aisle, window]}", "flows:", "  a:", "    steps:"]
    lines += ["      - action: go", "        outputs: [free]", "      - set: {given: 5}", "      - branch:"]
    found = problems_of("\n".join([*lines, f"          - if: {condition}", "            steps: [{say: x}]"]))
    place = "17: flows.a.steps[2].branch[0]: "
    assert [line.startswith(place + expected) for line in found] == ([True] if expected else []), found
