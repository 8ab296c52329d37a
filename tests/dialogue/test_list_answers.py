"""Dialogues about a list: adding, removing and changing items, and its end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import Choice, SlotKind
from duologue.dialogue.flow import Collect, Confirm, Domain, PerformAction, SlotSpec
from duologue.dialogue.state import Phase
from duologue.lab.check.dialogue.domains import domain, flow, with_items
from tests.dialogue.dialogue_flows import Talker

COUNT = SlotSpec("count", SlotKind.NUMBER, "How many?")
SIZE = SlotSpec("size", SlotKind.CHOICE, "Which size?", choices=(Choice("small"), Choice("large")))
DISH = SlotSpec("dish", SlotKind.CHOICE, "Which?", choices=(Choice("pizza"), Choice("salad"), Choice("soup")))
ORDER = SlotSpec(
    "order",
    SlotKind.LIST,
    "What would you like?",
    items=("dish", "size", "count"),
    item_text="{count} {size} {dish}",
    items_max=5,
)
ADDRESS = SlotSpec("address", SlotKind.TEXT, "Where to?")


def shop(order: SlotSpec = ORDER, count: SlotSpec = COUNT) -> Domain:
    ordering = flow(
        "eat",
        Collect("order", "order"),
        Collect("address", "address"),
        Confirm("sure", "{order} to {address}?"),
        PerformAction("send", "send", ("order", "address")),
    )
    return with_items(domain(ordering, slots=(order, count, SIZE, DISH, ADDRESS)))


def talk(*texts: str) -> Talker:
    return Talker(shop()).starts("eat").says(*texts)


def orders(talker: Talker) -> list[str]:
    return [f"{item['count']} {item['size']} {item['dish']}" for item in talker.slots["order"]]  # type: ignore[union-attr,index,call-overload]


@pytest.mark.req("D-08")
def test_items_are_completed_one_after_the_other_and_read_back() -> None:
    talker = talk("two large pizzas and a salad")
    assert talker.said == "Which size?"
    talker.says("small")
    assert talker.said == "2 large pizza and 1 small salad, noted. Anything else?"
    talker.says("no thanks")
    assert talker.said == "Where to?"
    assert orders(talker) == ["2 large pizza", "1 small salad"]


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("text", "expected", "said"),
    [
        ("make the salad large", ["2 large pizza", "1 large salad"], "1 large salad, noted."),
        ("remove the salad", ["2 large pizza"], "I've taken off 1 small salad."),
        ("remove the first one", ["1 small salad"], "I've taken off 2 large pizza."),
        ("remove one pizza", ["1 small salad", "1 large pizza"], "I've taken off 1 large pizza."),
        ("make it three", ["2 large pizza", "3 small salad"], "3 small salad, noted."),
        ("another large pizza", ["1 small salad", "3 large pizza"], "3 large pizza, noted."),
        (
            "one of the pizzas should be small",
            ["1 large pizza", "1 small salad", "1 small pizza"],
            "1 small pizza, noted.",
        ),
        ("add a large soup", ["2 large pizza", "1 small salad", "1 large soup"], "1 large soup, noted."),
    ],
)
def test_one_item_is_changed_and_the_others_stay(text: str, expected: list[str], said: str) -> None:
    talker = talk("two large pizzas and a small salad", text)
    assert said in talker.said
    assert orders(talker.says("that's all")) == expected


def test_words_that_fit_two_items_change_nothing() -> None:
    talker = talk("a large pizza and a small pizza", "remove the pizza")
    assert talker.said == "I can't tell whether you mean 1 large pizza or 1 small pizza. Anything else?"
    assert "isn't on your list" in talker.says("remove the soup").said
    assert orders(talker.says("that's all")) == ["1 large pizza", "1 small pizza"]


def test_words_that_are_not_understood_are_named() -> None:
    assert "I didn't get this part: olives." in talk("a large pizza and olives").said


def test_a_list_takes_only_as_many_items_as_it_may() -> None:
    talker = Talker(shop(replace(ORDER, items_max=3))).starts("eat")
    talker.says("a small pizza, a large pizza, a small salad and a small soup")
    assert "That's as much as I can take." in talker.said
    assert len(orders(talker)) == 3


def test_what_is_said_while_an_item_is_asked_about_belongs_to_the_list() -> None:
    talker = talk("a salad", "and a large soup", "small")
    assert talker.said == "1 small salad and 1 large soup, noted. Anything else?"
    assert talk("a salad", "forget the salad").said == "I've taken off 1 salad. What would you like?"
    assert talk("two pizzas", "one large and one small").said.startswith("1 large pizza and 1 small pizza")


def test_cancel_is_no_end_of_the_list() -> None:
    assert talk("a large pizza", "cancel").state.phase is Phase.IDLE


def test_a_yes_to_more_asks_what() -> None:
    assert talk("a large pizza", "yes").said == "What would you like?"


def test_a_finished_list_is_changed_at_a_later_question_and_at_the_confirmation() -> None:
    talker = talk("a large pizza", "no", "wait, also a small soup")
    assert talker.said == "1 small soup, noted. Where to?"
    talker.says("5 Elm Street")
    assert talker.said == "1 large pizza and 1 small soup to 5 Elm Street?"
    talker.says("remove the soup")
    assert talker.said == "I've taken off 1 small soup. 1 large pizza to 5 Elm Street?"
    assert talker.says("small").state.phase is not Phase.EXECUTING_ACTION  # adds nothing, confirms nothing
    assert orders(talker) == ["1 large pizza"]


def test_without_its_last_item_a_list_is_asked_for_again() -> None:
    talker = talk("a large pizza", "no", "5 Elm Street", "remove the pizza")
    assert talker.said == "I've taken off 1 large pizza. What would you like?"


def test_the_user_may_ask_what_is_on_the_list() -> None:
    assert talk("a large pizza", "what's on my order?").said == "The order is 1 large pizza. Anything else?"


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("three small soups", "three small soups"), ["3 small soup"]),
        (("three small soups", "no, two small soups"), ["2 small soup"]),
        (("three small soups", "i said two small soups, not three"), ["2 small soup"]),
        (("three small soups", "two soups", "small"), ["2 small soup"]),
        (("three small soups", "two soups", "large"), ["3 small soup", "2 large soup"]),
        (("three small soups", "two more small soups"), ["5 small soup"]),
        (("three small soups", "add a small soup"), ["4 small soup"]),
        (("a large salad and a small soup", "a large salad"), ["1 small soup", "1 large salad"]),
    ],
)
def test_an_item_that_is_said_again_is_counted_once_unless_more_is_wanted(
    texts: tuple[str, ...], expected: list[str]
) -> None:
    assert orders(talk(*texts, "that's all")) == expected


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("half a dozen large pizzas and half a dozen small soups", ["6 large pizza", "6 small soup"]),
        ("a dozen small soups, half a dozen large salads", ["12 small soup", "6 large salad"]),
        ("large pizza two, small salad three", ["2 large pizza", "3 small salad"]),
        ("small soup, four", ["4 small soup"]),
        ("four small soups, or rather make that five", ["5 small soup"]),
        ("a salad, one large salad", ["1 large salad"]),
    ],
)
def test_a_number_belongs_to_the_thing_that_it_counts(text: str, expected: list[str]) -> None:
    assert orders(talk(text, "that's all")) == expected


@pytest.mark.req("D-08")
@pytest.mark.parametrize("text", ["yes that's right, that's all", "nothing else, that's it", "no, that's all"])
def test_words_that_name_no_item_before_that_is_all_leave_the_list_as_it_is(text: str) -> None:
    talker = talk("two large pizzas", text)
    assert talker.said == "Where to?"
    assert orders(talker) == ["2 large pizza"]


def ordered() -> Talker:
    talker = Talker(replace(shop(), correctable_turns=5)).starts("eat")
    return talker.says("two large pizzas", "that's all", "12 Mill Lane", "yes").done()


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("oh and make that three large pizzas", ["3 large pizza"]),
        ("and a small soup please", ["2 large pizza", "1 small soup"]),
        ("oh, also one more large pizza", ["3 large pizza"]),
    ],
)
def test_a_change_of_a_list_right_after_the_task_is_confirmed_again(text: str, expected: list[str]) -> None:
    done = ordered()
    assert done.phase == "idle"
    done.says(text)
    assert done.phase == "confirming"
    assert orders(done) == expected
    assert done.slots["address"] == "12 Mill Lane"


@pytest.mark.req("D-08")
@pytest.mark.parametrize("text", ["are there any nuts in the pizza", "make it quick", "the pizza was great last time"])
def test_other_words_about_an_ordered_thing_change_nothing_after_the_task(text: str) -> None:
    done = ordered()
    assert done.says(text).phase != "confirming"


@pytest.mark.req("D-08")
@pytest.mark.parametrize("text", ["no that's it how long will it take", "that's everything, and my aunt says thanks"])
def test_a_clause_may_end_the_list(text: str) -> None:
    talker = talk("two large pizzas").says(text)
    assert (orders(talker), talker.said.endswith("Where to?")) == (["2 large pizza"], True)


@pytest.mark.req("D-08")
@pytest.mark.parametrize("text", ["that's all, but make the pizzas small", "that's all and a small soup too"])
def test_a_clause_that_changes_the_list_keeps_it_open(text: str) -> None:
    assert talk("two large pizzas").says(text).said != "Where to?"
