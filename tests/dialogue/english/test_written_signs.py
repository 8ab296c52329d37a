"""Signs that are written between the words of an address."""

from __future__ import annotations

import pytest

from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.english.written_signs import with_written_signs


@pytest.mark.parametrize(
    ("reply", "with_all", "with_sure"),
    [
        ("lena.park_7 at x", "lena dot park underscore 7 at x", "lena dot park underscore 7 at x"),
        ("eva-maria at x", "eva dash maria at x", "eva maria at x"),
        ("k.i.m at x", "k dot i dot m at x", "ki m at x"),
        ("k-i-m at x", "k i m at x", "k i m at x"),
        ("j.r.wood at x", "j dot r dot wood at x", "j dot r dot wood at x"),
        ("j.r. wood at x", "jr wood at x", "jr wood at x"),
        ("sure.It's tom at x", "sure it's tom at x", "sure it's tom at x"),
    ],
)
def test_a_written_sign_is_read_as_if_it_had_been_spoken(reply: str, with_all: str, with_sure: str) -> None:
    for expected, are_all_meant in ((with_all, True), (with_sure, False)):
        found, _ = with_written_signs(tokens_of(reply), are_all_meant=are_all_meant)
        assert " ".join(token.word for token in found) == expected


def test_every_token_knows_its_place_in_the_reply() -> None:
    tokens = tokens_of("lena.park at x")
    found, places = with_written_signs(tokens, are_all_meant=True)
    assert [token.word for token in found] == ["lena", "dot", "park", "at", "x"]
    assert places == [0, 1, 1, 2, 3, 4]
