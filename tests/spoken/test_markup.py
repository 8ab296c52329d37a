"""Markup, emoji and code are left out."""

from __future__ import annotations

import pytest

from duologue.spoken.markup import code_words, markup_rules
from duologue.spoken.rules import RewriteRules

RULES = RewriteRules(markup_rules("code"))


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("**bold** and _soft_ and ~~gone~~", "bold and soft and gone"),
        ("snake_case stays, 2*3 too", "snake_case stays, 2*3 too"),
        ("![A cat](cat.png) here", "A cat here"),
        ("It is known[1][^2].", "It is known."),
        ("- [x] done", "done."),
        ("- - -", ""),
        ("| a | b |", "a, b."),
        ("a<br>b <!-- note --> c", "ab c"),
        ("3 < 4 and x > y", "3 < 4 and x > y"),
        ("\\*not bold\\*", "*not bold*"),
        ("Hi :) there 👩‍💻!", "Hi there!"),
        ("```\nx\n``` done", "code. done"),
        ("```x``` done", "code. done"),
    ],
)
def test_markup_is_not_said(written: str, spoken: str) -> None:
    assert RULES.apply(written).text == spoken


def test_names_in_code_are_taken_apart() -> None:
    assert code_words("getUserName(user_id)") == "get User Name user id"
