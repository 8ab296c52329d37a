"""Clauses in replies without punctuation."""

from __future__ import annotations

import pytest

from duologue.dialogue.clauses import clauses_of, text_of
from duologue.dialogue.english.pack import ENGLISH
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.language.packs import pack_of


def parts(text: str, *, at_subjects: bool = True) -> list[str]:
    tokens = tokens_of(text)
    return [text_of(text, tokens, one) for one in clauses_of(ENGLISH.words, tokens, at_subjects=at_subjects)]


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("seven my aunt's joining us", ["seven", "my aunt's joining us"]),
        ("clara voss i spelled it before", ["clara voss", "i spelled it before"]),
        ("the green one how long is the warranty", ["the green one", "how long is the warranty"]),
        ("thursday could you ring me", ["thursday", "could you ring me"]),
        ("it wasn't the ninth it was the tenth", ["it wasn't the ninth", "it was the tenth"]),
        ("nine actually make that ten", ["nine", "actually make that ten"]),
        # the subject belongs to the words before it
        ("the boat that i saw", ["the boat that i saw"]),
        ("can you send it to my aunt", ["can you send it to my aunt"]),
        ("for me and my aunt", ["for me", "and my aunt"]),
        ("send it please", ["send it please"]),
        # a reply with a pause is divided there
        ("seven, my aunt says it is", ["seven", "my aunt says it is"]),
        ("nine people, i think we are", ["nine people", "i think we are"]),
    ],
)
def test_a_clause_begins_at_a_subject_or_a_question(text: str, clauses: list[str]) -> None:
    assert parts(text) == clauses


def test_a_message_may_be_divided_only_at_joining_words() -> None:
    assert parts("seven my aunt's joining us", at_subjects=False) == ["seven my aunt's joining us"]


def test_other_languages_are_divided_only_at_pauses_and_joining_words() -> None:
    words = pack_of("de").words
    assert len(clauses_of(words, words.tokens_of("am Freitag kann ich nicht"))) == 1
