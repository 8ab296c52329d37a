"""Two values with an "or" between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, SlotSpec
from tests.dialogue.dialogue_flows import COLOUR, number, talk

TIME = SlotSpec("time", SlotKind.TIME, "What time?", hours=(8, 20))
LENGTH = SlotSpec("length", SlotKind.DURATION, "For how long?")
PRICE = SlotSpec("price", SlotKind.MONEY, "How much?")
DAY = SlotSpec("day", SlotKind.DATE, "Which day?", is_past=True, prefers="first")


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("slot", "text", "said"),
    [
        (TIME, "nine, or half past nine, after the school traffic", "Did you mean 9 am or 9:30 am?"),
        (TIME, "eleven or half past", "Did you mean 11 am or 11:30 am?"),
        (TIME, "my train is late, so three or four in the afternoon", "Did you mean 3 pm or 4 pm?"),
        (DAY, "yesterday or the day before, he only told me now", "Did you mean December 1 or November 30?"),
        (number("count"), "not sure, 45 or 50 thousand", "Did you mean 45000 or 50000?"),
        (number("count"), "around 45 or 50 thousand", "Did you mean 45000 or 50000?"),
        (number("count"), "two, well maybe three", "Did you mean 2 or 3?"),
        (number("count"), "three to four, depends on the doctor", "Did you mean 3 or 4?"),
        (PRICE, "I thought of sixty maybe seventy pounds", "Did you mean 60 GBP or 70 GBP?"),
        (LENGTH, "a week maybe two", "Did you mean 1 week or 2 weeks?"),
        (COLOUR, "I do get muddled, red or blue I think", "Did you mean red or blue?"),
    ],
)
def test_two_alternatives_among_other_words_become_one_question(slot: SlotSpec, text: str, said: str) -> None:
    talker = talk(Collect(slot.name, slot.name), slots=(slot,)).says(text)
    assert (talker.said, talker.slots) == (said, {})


@pytest.mark.parametrize("text", ["nine, or something like that", "now or never", "is it nine or ten?"])
def test_one_value_is_no_alternative(text: str) -> None:
    talker = talk(Collect("time", "time"), slots=(TIME,)).says(text)
    assert "Did you mean" not in talker.said


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("language", "text", "values"),
    [
        ("en", "half an hour maybe one", ("PT30M", "PT1H")),
        ("en", "three days perhaps four", ("P3D", "P4D")),
        ("en", "a week or two", ("P1W", "P2W")),
        ("de", "eine Stunde vielleicht zwei", ("PT1H", "PT2H")),
        ("es", "una hora quizás dos", ("PT1H", "PT2H")),
    ],
)
def test_a_second_length_without_its_unit_is_no_number_of_people(
    language: str, text: str, values: tuple[str, ...]
) -> None:
    stay = SlotSpec("stay", SlotKind.DURATION, "How long?")
    talker = talk(Collect("a", "stay"), Collect("b", "people"), slots=(stay, number("people")))
    talker.domain = replace(talker.domain, language=language)
    talker.says(text)
    assert (talker.slots, talker.state.among) == ({}, values)


@pytest.mark.parametrize("joint", ["maybe", "but", "or", "no", "actually", "not", "to", "and", "rather", "except"])
@pytest.mark.parametrize("before", [(), ("50 euros",), ("50 euros", "10 euros")])
def test_no_two_amounts_of_money_stop_the_machine(joint: str, before: tuple[str, ...]) -> None:
    # An amount of money is a dict, which can't be hashed.
    budget, fee = (SlotSpec(name, SlotKind.MONEY, f"{name}?") for name in ("budget", "fee"))
    flow = (Collect("a", "budget"), Collect("b", "fee"), Confirm("sure", "{budget} and {fee}?"))
    for text in (f"twenty {joint} thirty euros", f"up to twenty {joint} call me first", f"no twenty euros {joint} 30"):
        talker = talk(*flow, slots=(budget, fee)).says(*before, text)
        assert talker.said or talker.asked_nlu


def test_the_upper_end_of_an_amount_has_no_lower_one() -> None:
    talker = talk(Collect("price", "price"), slots=(PRICE,)).says("fine up to four hundred but ring me first")
    assert talker.slots["price"] == {"amount": 400, "currency": None}


def test_an_or_so_names_no_second_number() -> None:
    talker = talk(Collect("a", "miles"), Collect("b", "people"), slots=(number("miles"), number("people")))
    talker.says("not much, four thousand or so")
    talker = talker.means() if talker.asked_nlu else talker
    assert 1000 not in talker.state.among
