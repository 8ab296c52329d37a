"""One scan applies all rules, and the first that matches decides."""

from __future__ import annotations

import pytest

from duologue.spoken.rules import RewriteRule, RewriteRules

RULES = RewriteRules(
    (
        RewriteRule("[a-z]", r"(?P<first>cat)s", lambda match: match["first"]),
        RewriteRule("[a-z]", "cat", "dog"),
        RewriteRule("[0-9]", r"\d+", lambda match: None),
        RewriteRule("#", r"#\s", ""),
    )
)


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("cats and cat.", "cat and dog."),
        ("no match", "no match"),
        ("7 lives", "7 lives"),
        ("# a cat", "a dog."),
        ("two  spaces", "two spaces"),
        ("the end of cat .", "the end of dog."),
    ],
)
def test_the_first_rule_that_matches_decides(written: str, spoken: str) -> None:
    assert RULES.apply(written).text == spoken


def test_a_sentence_that_ends_with_a_mark_is_said_with_one() -> None:
    rules = RewriteRules((RewriteRule("e", r"etc\.", "et cetera"),))
    assert rules.apply("Apples etc.").text == "Apples et cetera."
    assert rules.apply("etc. and so").text == "et cetera and so"
