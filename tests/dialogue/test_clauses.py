"""Messages, divided into clauses."""

from __future__ import annotations

import pytest

from duologue.dialogue.clauses import clauses_of, runs_of, text_of, without_join
from duologue.dialogue.language.packs import pack_of

WORDS = pack_of("en").words


@pytest.mark.parametrize(
    ("text", "clauses"),
    {
        "seven, before work": ["seven", "before work"],
        "it's late. Could I come on Friday?": ["it's late", "Could I come on Friday"],
        "two of us but one is a baby": ["two of us", "but one is a baby"],
        "a hundred and twenty": ["a hundred and twenty"],
        "": [],
    }.items(),
)
def test_a_clause_begins_after_a_pause_or_with_a_joining_word(text: str, clauses: list[str]) -> None:
    tokens = WORDS.tokens_of(text)
    found = clauses_of(WORDS, tokens)
    assert [text_of(text, tokens, part) for part in found] == clauses
    assert [at for part in found for at in part] == list(range(len(tokens)))


def test_the_longest_runs_come_first_and_none_is_the_whole_message() -> None:
    assert list(runs_of([range(1), range(1, 2), range(2, 3)])) == [
        range(2), range(1, 3), range(1), range(1, 2), range(2, 3),
    ]  # fmt: skip


def test_a_joining_word_is_no_part_of_what_a_clause_says() -> None:
    tokens = WORDS.tokens_of("but so Friday")
    assert without_join(WORDS, tokens, range(3)) == range(2, 3)
