"""Spelled names: the letters decide how they are written."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Ambiguous, Direct, Question, Slot, SlotKind, read
from tests.dialogue.english.grammar_replies import WEDNESDAY, named


def written(reply: str, slot: Slot | None = None) -> str | None:
    reading = read(Question(slot or Slot("name", SlotKind.NAME), "What is your name?"), reply, WEDNESDAY)
    return str(reading.values[0].value) if isinstance(reading, Direct) else None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "A N N A": "Anna",
        "my name is A N N A": "Anna",
        "I'm A double N A, please": "Anna",
        "Smith, S-M-I-T-H": "Smith",
        "Mayer, that's M E I E R": "Meier",
        "Anna Mayer, spelled M as in Mike, E, I, E, R": "Anna Meier",
        "Anna Meier, A N N A": "Anna Meier",
        "it's spelled mike echo india echo romeo": "Meier",
        "Lee, L double E": "Lee",
        "call me Bob": "Bob",
        "IBM": "IBM",
        "Smith, S.M.I.T.H.": "Smith",
        "Mike": "Mike",
        "Mike Oscar Romeo": "Mike Oscar Romeo",
        "A J Smith": "A J Smith",
        "J. P. Morgan": "J. P. Morgan",
        "Ng, N G": "Ng",
        "O'Brien, O B R I E N": "O'Brien",
        "Anna-Lena, A N N A dash L E N A": "Anna-Lena",
        "B M W": "BMW",
        "no, it's M E I E R": "Meier",
        "my last name is Mayer, M E I E R": "Meier",
    }.items(),
)
def test_a_spelled_name_is_written_as_it_was_spelled(reply: str, name: str) -> None:
    assert written(reply) == name


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply",
    [
        "Brown, S M I T H",
        "Brown, J O N E S",
        "Anna, A N N",
        "Mayer, no, M E I E R",
        "I am a V I P",
        "A S A P",
        "n o",
        "Meier with an e i",
        "call me tomorrow",
        "call me later",
    ],
)
def test_letters_that_do_not_fit_the_name_are_for_nlu(reply: str) -> None:
    assert written(reply) is None


@pytest.mark.req("D-04")
def test_letters_that_only_sound_alike_give_two_candidates() -> None:
    reading = read(Question(Slot("name", SlotKind.NAME), "What is your name?"), "Anna, A M M A", WEDNESDAY)
    assert isinstance(reading, Ambiguous)
    assert reading.candidates == ("Anna", "Amma")


@pytest.mark.req("D-04")
def test_spelled_letters_choose_a_name_of_a_closed_list() -> None:
    cities = named("Graz", "Linz", is_open=False).slot
    assert written("L I N Z", cities) == "Linz"
    assert written("Linz, L I N Z", cities) == "Linz"
    assert written("B E R N", cities) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(("reply", "company"), {"I B M": "IBM", "S A P, please": "SAP", "A C M E": "Acme"}.items())
def test_an_abbreviation_that_is_not_a_person_keeps_its_capitals(reply: str, company: str) -> None:
    reading = read(Question(Slot("company", SlotKind.NAME), "Which company are you with?"), reply, WEDNESDAY)
    assert isinstance(reading, Direct)
    assert reading.values[0].value == company
