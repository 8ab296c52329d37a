"""People who are counted by who they are, and counts that belong to something else (D-04)."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Slot, SlotKind, read_volunteered
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import number, talk
from tests.dialogue.grammar_replies import WEDNESDAY, ask, said

PEOPLE = ask(SlotKind.NUMBER, "For how many people?", "people")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "count"),
    {
        "just me": 1,
        "it's only me": 1,
        "by myself": 1,
        "me and my wife": 2,
        "my husband and I": 2,
        "both of us": 2,
        "two people, me and my wife": 2,
        "me and two friends": 3,
        "two adults and a child": 3,
        "me and my two kids": 3,
        "me, my wife and two kids": 4,
        "four people and a baby": 5,
    }.items(),
)
def test_people_are_counted_by_who_they_are(reply: str, count: int) -> None:
    assert said(PEOPLE, reply) == count


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply",
    [
        "me and my friends",  # how many?
        "my wife and two kids",  # and you?
        "my wife",
        "me and Anna",
        "two of us and a dog",
        "three people, me and my wife",
        "I",
    ],
)
def test_a_company_that_cannot_be_counted_is_not(reply: str) -> None:
    assert said(PEOPLE, reply) is None


@pytest.mark.parametrize(
    ("question", "reply"),
    {
        ("How many adults?", "adults"): "two adults and a child",
        ("How many of those?", "count"): "me and my wife",
        ("How many would you like?", "count"): "just me",
    }.items(),
)
def test_only_where_all_people_are_counted_together(question: tuple[str, str], reply: str) -> None:
    assert said(ask(SlotKind.NUMBER, *question), reply) is None


def test_a_number_for_me_stays_a_number() -> None:
    assert said(PEOPLE, "2 for me") == 2


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["three nights", "about 250", "four", "19.30", "three hours"])
def test_a_number_that_nobody_asked_for_counts_no_guests(reply: str) -> None:
    # Once: "three nights" to "when will you leave?" made three guests, and "250" as many as that.
    day = SlotSpec("day", SlotKind.DATE, "Which day?")
    talker = talk(Collect("a", "day"), Collect("b", "guests"), slots=(day, number("guests")))
    assert talker.says(reply).slots == {}
    assert talker.asked_nlu


@pytest.mark.parametrize("reply", ["two people", "six of us", "4 guests please"])
def test_a_number_of_guests_counts_them_whenever_it_is_said(reply: str) -> None:
    day = SlotSpec("day", SlotKind.DATE, "Which day?")
    talker = talk(Collect("a", "day"), Collect("b", "guests"), slots=(day, number("guests")))
    assert list(talker.says(reply).slots) == ["guests"]


def test_a_bare_number_is_enough_in_a_sentence_that_starts_a_task() -> None:
    found = read_volunteered((Slot("people", SlotKind.NUMBER),), "a table for four", "book a table", WEDNESDAY)
    assert found is not None
    assert found.value_of("people") == 4


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["20 to 22 march", "12 until 15 march", "20 - 22 march"])
def test_the_first_half_of_a_stretch_of_days_counts_no_guests(reply: str) -> None:
    # Once: "20 to 22 March" made twenty guests.
    days = (
        SlotSpec("arrival", SlotKind.DATE, "When will you arrive?"),
        SlotSpec("departure", SlotKind.DATE, "And leave?"),
    )
    steps = (Collect("a", "arrival"), Collect("b", "departure"), Collect("c", "guests"))
    assert "guests" not in talk(*steps, slots=(*days, number("guests"))).says(reply).slots
