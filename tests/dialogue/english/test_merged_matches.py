"""Several matches that mean one value."""

from __future__ import annotations

from duologue.dialogue.english.merged_matches import merged
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.language.match import Match


def test_matches_with_a_value_in_common_are_one() -> None:
    tokens = tokens_of("two, yes two")
    found = merged(tokens, [Match(0, 1, (2, 3)), Match(2, 3, (2,))], is_count=True)
    assert found is not None
    assert found.candidates == (2,)


def test_matches_without_a_value_in_common_are_several() -> None:
    assert merged(tokens_of("two or three"), [Match(0, 1, (2,)), Match(2, 3, (3,))], is_count=True) is None
