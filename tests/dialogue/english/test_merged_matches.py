"""Several matches that mean one value."""

from __future__ import annotations

from duologue.dialogue.english.dates import SPAN_OF_DAYS
from duologue.dialogue.english.merged_matches import merged, narrowed
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.language.match import Match


def test_matches_with_a_value_in_common_are_one() -> None:
    tokens = tokens_of("two, yes two")
    found = merged(tokens, [Match(0, 1, (2, 3)), Match(2, 3, (2,))], is_count=True)
    assert found is not None
    assert found.candidates == (2,)


def test_matches_without_a_value_in_common_are_several() -> None:
    assert merged(tokens_of("two or three"), [Match(0, 1, (2,)), Match(2, 3, (3,))], is_count=True) is None


def test_a_span_and_a_day_of_it_right_after_it_are_that_day() -> None:
    week, day = Match(0, 2, ("2026-03-09", "2026-03-10"), SPAN_OF_DAYS), Match(3, 4, ("2026-03-10",))
    assert narrowed(tokens_of("next week, ideally tuesday"), week, day) == Match(0, 4, ("2026-03-10",))
    assert narrowed(tokens_of("next week sister tuesday"), week, day) is None
    assert narrowed(tokens_of("next week, ideally friday"), week, Match(3, 4, ("2026-03-13",))) is None
    assert narrowed(tokens_of("next week, ideally tuesday"), week._replace(unit=""), day) is None
