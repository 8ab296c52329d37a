"""Regular expressions for values: which are allowed, and what they match."""

from __future__ import annotations

import pytest

from duologue.dialogue.value_patterns import (
    PATTERN_CHARS_MAX,
    VALUE_CHARS_MAX,
    BadPattern,
    check_pattern,
    example_of,
    is_match,
)


@pytest.mark.parametrize(
    "pattern",
    ["[A-Z]{2}[0-9]{6}", r"\d{3}-?\d{4}", r"(?:DE|AT)\d{1,8}", r"\w+", r"\w+-\w+", "(ab|cd){3}", r"[a-z]*\d?", "a.c"],
)
def test_plain_patterns_are_allowed_and_have_an_example(pattern: str) -> None:
    check_pattern(pattern)
    assert is_match(pattern, example_of(pattern))
    assert is_match(pattern, example_of(pattern, 1))


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a+)+", "too long"),
        ("(a|aa)+", "too long"),
        ("(.*a){20}", "too long"),
        ("a*a*a*a*b", "too long"),
        ("(a|b|ab)*c", "too long"),
        (r"(\d+)-\1", "reference"),
        ("(?=a)a", "lookahead"),
        ("[a-", "isn't a valid"),
        ("a" * (PATTERN_CHARS_MAX + 1), "at most"),
    ],
)
def test_a_pattern_that_could_take_long_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(BadPattern, match=why):
        check_pattern(pattern)


def test_a_value_matches_as_a_whole_in_any_case_and_only_if_it_is_short() -> None:
    assert is_match("[A-Z]{2}", "ab")
    assert not is_match("[A-Z]{2}", "abc")
    assert not is_match("a*", "a" * (VALUE_CHARS_MAX + 1))
