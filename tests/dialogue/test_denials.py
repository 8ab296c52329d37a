"""Clauses that only deny."""

from __future__ import annotations

import pytest

from duologue.dialogue.denials import only_denies
from duologue.dialogue.english.pack import ENGLISH
from duologue.dialogue.english.tokens import tokens_of


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("I can't", True),
        ("that won't work", True),
        ("I don't mind", False),
        ("I can't on Sunday", False),
        ("yes", False),
    ],
)
def test_a_clause_that_only_denies(text: str, denies: bool) -> None:
    assert only_denies(ENGLISH, tokens_of(text)) is denies
