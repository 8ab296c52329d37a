"""People who are counted by who they are."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Question, Slot, SlotKind
from tests.dialogue.english.grammar_replies import ask, said

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
def test_a_party_that_cannot_be_counted_is_for_nlu(reply: str) -> None:
    assert said(PEOPLE, reply) is None


@pytest.mark.parametrize(
    ("question", "reply"),
    {
        ("How many adults?", "adults"): "two adults and a child",
        ("How many of those?", "count"): "me and my wife",
        ("How many would you like?", "count"): "just me",
    }.items(),
)
def test_a_party_is_counted_only_if_the_question_asks_for_all_people(question: tuple[str, str], reply: str) -> None:
    assert said(ask(SlotKind.NUMBER, *question), reply) is None


def test_a_number_for_me_stays_a_number() -> None:
    assert said(PEOPLE, "2 for me") == 2


@pytest.mark.req("D-04")
def test_child_seats_are_not_children() -> None:
    drivers, seats = Slot("drivers", SlotKind.NUMBER), Slot("child_seats", SlotKind.NUMBER)
    asked = Question(drivers, "How many people will drive?", others=(seats,))
    assert said(asked, "just me and my husband") == 2


@pytest.mark.req("D-04")
def test_a_count_of_people_may_come_with_who_they_are() -> None:
    asked = ask(SlotKind.NUMBER, "How many people will drive?", "drivers")
    assert said(asked, "two, my wife and me") == 2
    assert said(asked, "three, my wife and me") is None


@pytest.mark.req("D-04")
def test_just_for_me_is_one() -> None:
    assert said(ask(SlotKind.NUMBER, "For how many people?", "people"), "just for me") == 1
    assert said(ask(SlotKind.NUMBER, "For how many people?", "people"), "just for me and some friends") is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "count"),
    [
        ("seven with our grandson", 7),
        ("nine including the two guides", None),
        ("five counting the dog", 5),
        ("six with the tour guide", 6),
        ("three with two babies", None),
    ],
)
def test_a_count_may_say_who_is_counted(reply: str, count: int | None) -> None:
    assert said(PEOPLE, reply) == count
