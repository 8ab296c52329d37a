"""Names of a list, almost names, and names that no list has."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Direct, NameList, Question, Slot, SlotKind, read
from duologue.dialogue.english.names import edits
from tests.dialogue.grammar_replies import WEDNESDAY, ask, named, said

CITIES = named(
    "Paris", "New York", "New York City", "Lyon", "Port Louis", "Saint Louis", "Cambridge", "Reading", "The Hague"
)


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


def test_two_names_that_are_as_near_are_both_told() -> None:
    assert said(named("Marlow", "Harlow", is_open=False), "Tarlow") == ["Marlow", "Harlow"]


def test_a_near_name_may_also_be_a_new_one() -> None:
    assert said(named("Martha", "Oscar"), "Marta, please") == ["Martha", "Marta"]
    assert said(named("Martha", "Oscar", is_open=False), "Marta, please") == "Martha"
    assert said(named("Oscar"), "Marta, please") == "Marta"


@pytest.mark.parametrize(
    "reply", ["from Paris to Lyon", "Paris or Lyon", "not Paris", "Paris on Friday", "cheap in Paris"]
)
def test_more_than_a_name_is_for_nlu(reply: str) -> None:
    assert said(CITIES, reply) is None


def test_a_closed_list_takes_no_other_name() -> None:
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


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "Anna Kowalska": "Anna Kowalska",
        "it's Anna Kowalska": "Anna Kowalska",
        "um, my name is Kowalska": "Kowalska",
        "I'd like to see Anna Kowalska, please": "Anna Kowalska",
        "send it to Anna": "Anna",
        "I don't know": None,
        "whatever": None,
        "dunno": None,
        "hang on there": None,
        "one moment then I know": None,
        "I'd like something cheap": None,
        "Anna Kowalska on Friday": None,
        "do you have Anna": None,
        "I would rather talk about my invoice": None,
    }.items(),
)
def test_a_name_that_no_list_has(reply: str, value: str | None) -> None:
    assert said(ask(SlotKind.NAME, "Who would you like to see?", "person"), reply) == value


def test_a_known_name_inside_a_longer_one_isnt_taken() -> None:
    assert said(named("Midnight"), "Play Midnight Express please") is None


def test_a_name_that_is_an_ordinary_word_is_taken_only_alone() -> None:
    songs = named("Help", "After", "Need You", is_open=False)
    assert said(songs, "I need you to play something") is None
    assert said(songs, "Need You") == "Need You"


@pytest.mark.req("D-05")
def test_a_value_said_of_the_other_end_doesnt_fill_the_slot() -> None:
    cities = NameList.of(["Paris", "Lyon"])
    origin = Question(Slot("origin_city", SlotKind.NAME, names=cities), "Where from?")
    assert said(origin, "I'm going to Paris") is None
    assert said(origin, "I'm leaving from Paris") == "Paris"
    assert said(ask(SlotKind.DATE, "From when?", "start_date"), "until the 9th") is None


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1), ("abc", "ab", 1), ("", "abc", 3)],
)
def test_edits_are_counted(one: str, other: str, count: int) -> None:
    assert edits(one, other) == edits(other, one) == count


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "reply",
    """goodbye|bye|tonight|this evening|no idea|no phone|wow|haha|both|7 pm|half past six|seven|5|next|louder|the usual|
    it depends|l a|n/a|twenty minutes|3/5/1980|20 euros|next friday""".split("|"),
)
def test_what_nobody_is_called_is_no_name(reply: str) -> None:
    # Once: somebody who said goodbye was flown there.
    assert said(ask(SlotKind.NAME), reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "Morning Star": "Morning Star",
        "mike o'neil": "mike o'neil",
        "it's under Miller": "Miller",
        "Noon Jones": "Noon Jones",
    }.items(),
)
def test_a_name_may_have_a_common_word(reply: str, name: str) -> None:
    assert said(ask(SlotKind.NAME), reply) == name


def test_a_letter_that_belongs_to_a_number_is_no_article() -> None:
    # Once: "a123" was the text "123".
    assert said(ask(SlotKind.TEXT), "a123") is None
    assert said(ask(SlotKind.TEXT), "a fridge") == "fridge"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "my name is April": "April",
        "will smith": "will smith",
        "it's Mark": "Mark",
        "may": "may",
        "June Jones": "June Jones",
        "may 5": None,
        "I will": None,
        "tomorrow": None,
    }.items(),
)
def test_people_are_called_april_and_will_where_a_name_is_asked_for(reply: str, name: str | None) -> None:
    # Once: they could never tell their name.
    assert said(ask(SlotKind.NAME, "What is your name?"), reply) == name


@pytest.mark.parametrize("reply", ["will", "mark", "may"])
def test_where_no_name_is_asked_for_these_are_words(reply: str) -> None:
    assert said(ask(SlotKind.NAME, "Which city?"), reply) is None


PEOPLE = named("Ada Lovelace", "Grace Hopper", "Alan Turing", "Alan Kay", is_open=False)


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
def test_half_a_name_is_enough_where_no_other_name_is_allowed(reply: str, value: str | list[str] | None) -> None:
    assert said(PEOPLE, reply) == value


def test_half_a_name_is_another_name_where_any_is_allowed() -> None:
    assert said(named("Alan Turing"), "Turing") == "Turing"


def test_a_known_name_with_the_rest_misspelt_is_that_name() -> None:
    grace = NameList.of(("Grace Hopper",), {"Grace": "Grace Hopper"})
    assert said(Question(Slot("to", SlotKind.NAME, names=grace, is_open=False)), "grace hoper") == "Grace Hopper"
    assert said(Question(Slot("to", SlotKind.NAME, names=grace, is_open=False)), "grace kelly") is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "trip"),
    {
        "Paris to Lyon": {"origin": "Paris", "destination": "Lyon"},
        "Lyon from Paris": {"origin": "Paris", "destination": "Lyon"},
        "Paris Lyon": None,
        "Paris to Lyon to Reading": None,
    }.items(),
)
def test_of_two_ends_one_word_tells_both(reply: str, trip: dict[str, str] | None) -> None:
    names = CITIES.slot.names
    ends = Slot("origin", SlotKind.NAME, names=names), Slot("destination", SlotKind.NAME, names=names)
    reading = read(Question(ends[0], "From where?", others=ends[1:]), reply, WEDNESDAY)
    found = {value.slot: value.value for value in reading.values} if isinstance(reading, Direct) else None
    assert found == trip


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("slot", "reply", "name"),
    [
        ("name", "under the name of Smith", "Smith"),
        ("name", "surname Smith", "Smith"),
        ("name", "my last name is Smith", "Smith"),
        ("name", "Anna hyphen Lena Smith", "Anna-Lena Smith"),
        ("last_name", "my surname is Smith", "Smith"),
        ("first_name", "my surname is Smith", None),
        ("first_name", "the first name is Anna", "Anna"),
        ("full_name", "first name Anna", None),
    ],
)
def test_a_part_of_a_name_fills_the_slot_that_it_is_told_of(slot: str, reply: str, name: str | None) -> None:
    question = f"What is your {slot.replace('_', ' ')}?"
    assert said(Question(Slot(slot, SlotKind.NAME), question), reply) == name
