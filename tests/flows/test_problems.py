"""Problems are reported all at once, one line each, from top to bottom."""

from __future__ import annotations

import pytest

from duologue.flows import InvalidFlows, parse_flows
from tests.flows.flow_problems import problems_of


def test_all_problems_are_reported_at_once_from_top_to_bottom() -> None:
    found = problems_of(
        "version: 3\nslots:\n  day: {type: date, promt: When}\nflows:\n  a:\n    steps:\n"
        "      - collect: dya\n      - set: {day: {}}\n      - link: b"
    )
    assert [line.split(":")[0] for line in found] == ["1", "3", "7", "8", "9"]


def test_the_message_is_one_line_for_each_problem() -> None:
    with pytest.raises(InvalidFlows) as caught:
        parse_flows("version: 3\nflow: 5", "f.yaml")
    assert str(caught.value) == "\n".join(map(str, caught.value.problems))
    assert len(caught.value.problems) == 3


def test_the_number_of_reported_problems_is_limited() -> None:
    steps = "\n".join("      - collect: nothing" for _ in range(300))
    with pytest.raises(InvalidFlows) as caught:
        parse_flows(f"version: 1\nflows:\n  a:\n    steps:\n{steps}", "f.yaml")
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[-1]) == (101, "and 200 more problems")
