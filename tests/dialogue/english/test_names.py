"""Names of a list, and words that are almost one of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import NameList, Question, Slot, SlotKind
from duologue.dialogue.english.names import edits
from tests.dialogue.english.grammar_replies import named, said

CITIES = named(
    "Paris", "New York", "New York City", "Lyon", "Port Louis", "Saint Louis", "Cambridge", "Reading", "The Hague"
)

SCIENTISTS = named("Ada Lovelace", "Grace Hopper", "Alan Turing", "Alan Kay", is_open=False)


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "Paris": "Paris",
        "uh, New York": "New York",
        "in new york city please": "New York City",
        "I'm going to Lyon": "Lyon",
        "The Hague": "The Hague",
        "I'd like to go to the Hague": "The Hague",
        "look for something near Port Louis": "Port Louis",
        "Reading": "Reading",
        "Cambrige": "Cambridge",
        "Camrbidge, please": "Cambridge",
        "It's Paris.": "Paris",
    }.items(),
)
def test_a_known_name_as_people_say_it(reply: str, value: str) -> None:
    assert said(CITIES, reply) == value


def test_two_names_that_are_as_near_are_both_candidates() -> None:
    assert said(named("Marlow", "Harlow", is_open=False), "Tarlow") == ["Marlow", "Harlow"]


def test_a_near_name_is_asked_about_and_may_be_a_new_one() -> None:
    asked = named("Martha", "Oscar")
    assert said(asked, "Marta, please") == ["Martha"]  # "Did you mean Martha?"
    again = replace(asked, among=("Martha",))
    assert said(again, "yes") == "Martha"
    assert said(again, "Marta, please") == "Marta"  # said again: a new name
    assert said(named("Martha", "Oscar", is_open=False), "Marta, please") == "Martha"
    assert said(named("Oscar"), "Marta, please") == "Marta"


@pytest.mark.parametrize("reply", ["from Paris to Lyon", "not Paris", "Paris on Friday", "cheap in Paris"])
def test_more_than_a_name_is_for_nlu(reply: str) -> None:
    assert said(CITIES, reply) is None


def test_a_closed_list_refuses_other_names() -> None:
    closed = named("Paris", "Lyon", is_open=False)
    assert said(closed, "Berlin") is None
    assert said(named("Paris", "Lyon"), "Berlin") == "Berlin"


@pytest.mark.parametrize("reply", ["san", "la", "yes", "par"])
def test_short_words_are_never_almost_a_name(reply: str) -> None:
    assert said(named("San Francisco", "Philadelphia", "Los Angeles", "Paris", is_open=False), reply) is None


def test_an_alias_is_its_name() -> None:
    names = NameList.of(["New York"], {"the big apple": "New York", "nyc": "New York"})
    question = Question(Slot("city", SlotKind.NAME, names=names))
    assert said(question, "to the Big Apple") == "New York"
    assert said(question, "NYC please") == "New York"


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1), ("abc", "ab", 1), ("", "abc", 3)],
)
def test_edits_are_counted(one: str, other: str, count: int) -> None:
    assert edits(one, other) == edits(other, one) == count


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "turing": "Alan Turing",
        "to Lovelace, please": "Ada Lovelace",
        "alan": ["Alan Turing", "Alan Kay"],
        "grace hoper": "Grace Hopper",
        "grace kelly": None,
        "bob": None,
    }.items(),
)
def test_half_a_name_is_enough_with_a_closed_list(reply: str, value: str | list[str] | None) -> None:
    assert said(SCIENTISTS, reply) == value


def test_half_a_name_is_another_name_with_an_open_list() -> None:
    assert said(named("Alan Turing"), "Turing") == "Turing"


def test_a_known_name_with_the_rest_misspelled_is_that_name() -> None:
    grace = NameList.of(("Grace Hopper",), {"Grace": "Grace Hopper"})
    assert said(Question(Slot("to", SlotKind.NAME, names=grace, is_open=False)), "grace hoper") == "Grace Hopper"
    assert said(Question(Slot("to", SlotKind.NAME, names=grace, is_open=False)), "grace kelly") is None
