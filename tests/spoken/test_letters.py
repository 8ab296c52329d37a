"""Acronyms and codes."""

from __future__ import annotations

import pytest

from duologue.spoken.letters import acronym_rules
from duologue.spoken.rules import RewriteRules

RULES = RewriteRules(acronym_rules("en"))


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("the FBI and NASA", "the F B I and NASA"),
        ("two DVDs", "two D V Ds"),
        ("gate B12, room A-3", "gate B twelve, room A three"),
        ("flight LH4711", "flight L H four seven one one"),
        ("YOU MUST STOP THE CPR NOW", "YOU MUST STOP THE CPR NOW"),
        ("a McDonald", "a McDonald"),
        ("IoT", "I O T"),
    ],
)
def test_capitals_without_a_vowel_and_listed_ones_are_spelled(written: str, spoken: str) -> None:
    assert RULES.apply(written).text == spoken
