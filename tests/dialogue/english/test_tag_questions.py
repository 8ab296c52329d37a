"""Statements that end in a tag."""

from __future__ import annotations

import pytest

from duologue.dialogue.english.tag_questions import is_tagged
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.language.packs import pack_of


@pytest.mark.parametrize(
    "text",
    [
        "the towels are free right",
        "and you close at nine don't you",
        "it won't rain will it",
        "she speaks Polish huh",
        "I presume it is heated",
    ],
)
def test_a_statement_and_a_tag_ask_something(text: str) -> None:
    assert is_tagged(tokens_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "that's right",
        "all right",
        "you got the street right",
        "turn right",
        "do it",
        "right now",
        "isn't it",
        "I guess so",
    ],
)
def test_praise_and_a_tag_alone_ask_nothing(text: str) -> None:
    assert not is_tagged(tokens_of(text))


@pytest.mark.parametrize(
    ("language", "text", "is_question"),
    [
        ("de", "ja und das Frühstück ist dabei, oder", True),
        ("de", "das ist richtig", False),
        ("es", "sí, y el desayuno va incluido, verdad", True),
        ("es", "sí, es verdad", False),
    ],
)
def test_tags_of_other_languages(language: str, text: str, is_question: bool) -> None:
    pack = pack_of(language)
    assert pack.signs.is_tagged(pack.words.tokens_of(text)) is is_question
