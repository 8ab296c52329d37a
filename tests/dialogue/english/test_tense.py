"""Words that tell of the past."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Direct, Question, Slot, SlotKind, read, read_parts, read_volunteered
from duologue.dialogue.english.tense import is_past_form

TODAY = "2026-03-04"  # a Wednesday
DAYS = (Slot("day", SlotKind.DATE), Slot("noticed", SlotKind.DATE, is_past=True))


@pytest.mark.parametrize(("word", "is_past"), [("was", True), ("noticed", True), ("need", False), ("friday", False)])
def test_a_past_form_is_told_from_other_words(word: str, is_past: bool) -> None:
    assert is_past_form(word) is is_past


@pytest.mark.req("D-05")
def test_a_day_fills_the_one_slot_that_its_words_are_about() -> None:
    # Past bug: "Friday" filled the day of a visit and, as last Friday, a date of birth.
    found = read_volunteered(DAYS, "I'd like to come on Friday", "", TODAY)
    assert found is not None
    assert {value.slot: value.value for value in found.values} == {"day": "2026-03-06"}
    told = read_parts(DAYS, "I noticed it on Friday", TODAY)
    assert {value.slot: value.value for value in told} == {"noticed": "2026-02-27"}


@pytest.mark.req("D-05")
def test_the_asked_slot_comes_first_and_no_second_one_is_filled() -> None:
    noticed = read(Question(DAYS[1], others=DAYS[:1]), "Friday", TODAY)
    assert isinstance(noticed, Direct)
    assert [value.slot for value in noticed.values] == ["noticed"]
    day = read(Question(DAYS[0], others=DAYS[1:]), "Friday", TODAY)
    assert isinstance(day, Direct)
    assert [value.slot for value in day.values] == ["day"]


@pytest.mark.req("D-05")
def test_words_that_two_slots_read_differently_fill_neither() -> None:
    times = (Slot("opens", SlotKind.TIME, hours=(6, 14)), Slot("closes", SlotKind.TIME, hours=(12, 24)))
    assert read_volunteered(times, "at 9", "", TODAY) is None
    assert read_parts(times, "at 9, I think", TODAY) == ()


@pytest.mark.req("D-05")
def test_a_day_that_may_answer_the_open_question_fills_no_other_slot() -> None:
    # Past bug: "April first", where a date of birth was asked for, became the first day of a membership.
    born = Slot("born", SlotKind.DATE, is_past=True, is_birth=True)
    reading = read(Question(born, "When were you born?", others=DAYS[:1]), "April first", TODAY)
    assert not isinstance(reading, Direct)


@pytest.mark.req("D-05")
def test_a_date_with_its_year_goes_to_the_slot_for_past_days() -> None:
    told = read_parts(DAYS, "I was born on the third of May 1990", TODAY)
    assert {value.slot: value.value for value in told} == {"noticed": "1990-05-03"}
