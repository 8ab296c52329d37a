"""Wishes beside a yes."""

from __future__ import annotations

import pytest

from duologue.dialogue.added_wishes import adds_wish, says_what_to_do
from duologue.dialogue.language.packs import pack_of

PACK = pack_of("en")


@pytest.mark.parametrize(
    ("text", "is_wish"),
    {
        "and the gardener has a ladder": True,
        "put it under the mat": True,
        "my aunt wants a window seat": True,
        "and thanks a lot": False,
        "it's getting dark": False,
        "and send the parcel": False,  # as the question says
    }.items(),
)
def test_a_wish_begins_with_an_and_or_a_verb_or_says_what_has_to_be_done(text: str, is_wish: bool) -> None:
    tokens = PACK.words.tokens_of(text)
    assert adds_wish(PACK.words, PACK.signs, tokens, "Shall I send the parcel?") is is_wish


@pytest.mark.parametrize(
    ("text", "says_it"), {"they should knock": True, "that should be it": False, "we knock": False}.items()
)
def test_words_such_as_should_say_what_has_to_be_done(text: str, says_it: bool) -> None:
    assert says_what_to_do(PACK.words, PACK.words.tokens_of(text), "Is that right?") is says_it
