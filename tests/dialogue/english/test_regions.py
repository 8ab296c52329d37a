"""Regions after a place."""

from __future__ import annotations

import pytest

from tests.dialogue.english.grammar_replies import named, said

PLACE = named("London", "Long Beach", "England", "Boston", "Georgia")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "London, England": "London",
        "I'd like one in London, England, please": "London",
        "Long Beach, CA would be great": "Long Beach",
        "England": "England",
    }.items(),
)
def test_a_region_says_where_the_place_is(reply: str, value: str) -> None:
    assert said(PLACE, reply) == value


def test_two_places_in_a_list_are_two_places() -> None:
    assert said(PLACE, "Boston, Georgia and London") is None
    assert said(PLACE, "London, Boston") is None
