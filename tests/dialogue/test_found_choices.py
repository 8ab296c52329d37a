"""Choices that an action found."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, SlotKind
from duologue.dialogue.flow import Collect, PerformAction, SayText, SlotSpec
from duologue.dialogue.found_choices import FOUND_MAX, choices_in
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import Talker, choice

FLIGHT = SlotSpec("flight", SlotKind.CHOICE, "I found {found}. Which one?", choices_from="found", depends_on=("found",))
DAY = choice("day", "Monday", "Tuesday")
ITEMS = [
    {"value": "LH12", "label": "the early one", "price": 120},
    {"value": "BA7", "label": "the late one", "price": 95, "also": ["British"]},
]


def searched(found: object, *more: str) -> Talker:
    booking = flow(
        "book",
        Collect("day", "day"),
        PerformAction("search", "search", ("day",), (("found", "found"),)),
        Collect("flight", "flight"),
        SayText("price", "{flight} costs {flight.price} dollars."),
        PerformAction("pay", "pay", ("flight",)),
    )
    talker = Talker(domain(booking, slots=(DAY, FLIGHT))).starts("book").says("Monday")
    return talker.done(found=found).says(*more)  # type: ignore[arg-type]


@pytest.mark.req("D-08")
def test_the_found_items_are_offered_by_their_labels() -> None:
    assert searched(ITEMS).said == "I found the early one or the late one. Which one?"


@pytest.mark.req("D-08")
@pytest.mark.parametrize("text", ["the second one", "BA7", "the late one", "the British one please", "the last"])
def test_an_item_is_chosen_by_place_value_label_or_another_phrase(text: str) -> None:
    talker = searched(ITEMS, text)
    assert talker.slots["flight"] == "BA7"
    assert talker.said == "the late one costs 95 dollars."


def test_texts_and_numbers_are_items_too() -> None:
    assert searched(["red fox", 7], "7").slots["flight"] == "7"


@pytest.mark.parametrize("text", ["the third one", "Lufthansa", "the first or the second"])
def test_what_was_not_found_is_not_taken(text: str) -> None:
    assert "flight" not in searched(ITEMS, text).slots


def test_which_ones_are_there_is_answered_from_the_list() -> None:
    assert searched(ITEMS, "which ones are there?").said.startswith("You can choose LH12 or BA7.")


@pytest.mark.parametrize("found", [[], None, "nothing", [{"price": 3}], [True]])
def test_a_question_without_choices_is_not_asked_and_the_trace_names_it(found: object) -> None:
    talker = searched(found)
    assert (talker.said, talker.phase) == ("I'm sorry, I found nothing to choose from.", "idle")
    told = next(line for line in talker.state.trace if line.event == "no_choices")
    assert dict(told.data) == {"slot": "flight", "step": "flight", "choices_from": "found"}


def test_a_choice_that_a_newer_list_does_not_have_is_asked_for_again() -> None:
    talker = searched(ITEMS, "BA7").fails().says("no, change the day to Tuesday")
    talker.done(found=[{"value": "LX3"}])  # type: ignore[arg-type]
    assert (talker.said, talker.slots.get("flight")) == ("I found LX3. Which one?", None)


def test_a_list_is_bounded_and_holds_every_value_once() -> None:
    assert len(choices_in([f"item {number}" for number in range(100)])) == FOUND_MAX
    assert choices_in(["a", "a", {"value": "a"}, None, {}, 3]) == (Choice("a"), Choice("3"))
