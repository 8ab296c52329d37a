"""Findings as JSON look alike for every machine."""

from __future__ import annotations

from duologue.lab.check.hearing.check import HearingFindings
from duologue.lab.check.ownership.check import OwnershipFindings
from duologue.lab.check.summary import exploration_to_json, totals_to_json


def test_an_exploration_says_how_much_was_explored_and_whether_that_is_everything() -> None:
    found = HearingFindings("confirm", "words", states=5, steps=9, seconds=1.2345, complete=False, depth=3)
    assert exploration_to_json(found) == {
        "scope": "words",
        "states": 5,
        "steps": 9,
        "cpu_seconds": 1.23,
        "complete": False,
        "depth": 3,
    }


def test_totals_are_rounded_once() -> None:
    found = [OwnershipFindings("ends", states=2, steps=3, seconds=0.004) for _ in range(3)]
    assert totals_to_json(found) == {"states": 6, "steps": 9, "cpu_seconds": 0.01}
