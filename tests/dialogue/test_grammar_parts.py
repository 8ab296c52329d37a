"""What stands for itself in a message that isn't wholly understood, and what doesn't."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.dialogue.english import Choice, NameList, Slot, SlotKind, read_parts

TODAY = "2026-03-04"  # a Wednesday
TABLE = (
    Slot("people", SlotKind.NUMBER),
    Slot("day", SlotKind.DATE),
    Slot("time", SlotKind.TIME, hours=(12, 24)),
    Slot("seating", SlotKind.CHOICE, (Choice("inside"), Choice("outside"), Choice("bar"))),
    Slot("guest", SlotKind.NAME),
    Slot("wish", SlotKind.TEXT),
    Slot("is_smoker", SlotKind.YES_NO),
)
CITIES = NameList.of(["Boston", "Chicago", "Denver"])
TRIP = (
    Slot("origin", SlotKind.NAME, names=CITIES),
    Slot("destination", SlotKind.NAME, names=CITIES),
    Slot("budget", SlotKind.MONEY),
    Slot("nights", SlotKind.NUMBER),
)


def found(slots: tuple[Slot, ...], message: str) -> dict[str, object]:
    return {value.slot: value.value for value in read_parts(slots, message, TODAY)}


@pytest.mark.parametrize(
    ("message", "values"),
    [
        (
            "I'd like a table for four tomorrow at half past seven for my grandmother's birthday",
            {"people": 4, "day": "2026-03-05", "time": "19:30"},
        ),
        ("a table for two on Friday please, she's allergic to nuts", {"people": 2, "day": "2026-03-06"}),
        ("there will be five of us, and a dog", {"people": 5}),
        ("a table on Friday, and my flight lands at 7 pm", {"day": "2026-03-06"}),
        ("somewhere outside would be lovely as the kids like to run around", {"seating": "outside"}),
        ("a table for four but somewhere quiet", {"people": 4}),
        ("we need something on Friday because my parents are in town", {"day": "2026-03-06"}),
    ],
)
def test_values_that_stand_for_themselves(message: str, values: dict[str, object]) -> None:
    assert found(TABLE, message) == values


@pytest.mark.parametrize(
    "message",
    [
        "a table for Friday, actually Saturday",  # one day too many
        "anything but Friday if you can manage it",
        "somewhere between 7 pm and 9 pm with a nice view",
        "some time after 8 pm when the babysitter has come",
        "Friday or Saturday, whichever has a nicer view",
        "we came on Monday with six people and it was wonderful",  # it tells of what has been
        "I don't want to sit at the bar again with my bad back",
        "flight 22 lands in gate 4 and we take a cab",  # counts nothing
        "my daughter turns seven, it's going to be wild",
        "yes of course it is for smokers like my uncle",  # nobody asked
        "Grandma Miller is coming with her famous hat",
        "",
        "\x00\xff",
        "x" * 100_000,
    ],
)
def test_whatever_is_in_doubt_is_left(message: str) -> None:
    assert found(TABLE, message) == {}


def test_a_number_counts_what_it_is_said_to_count() -> None:
    assert found(TRIP, "three nights with my 2 kids in some cosy hotel") == {"nights": 3}
    assert found(TABLE, "my 3 dogs would love a walk beforehand") == {}


def test_two_ends_are_told_by_from_and_to() -> None:
    assert found(TRIP, "I've got to get from Boston to Chicago for a funeral") == {
        "origin": "Boston",
        "destination": "Chicago",
    }
    assert found(TRIP, "Denver is where my heart is") == {}
    assert found(TRIP, "to Denver with 500 dollars in my pocket") == {
        "destination": "Denver",
        "budget": {"amount": 500, "currency": "USD"},
    }


@given(st.text(max_size=200))
def test_whatever_is_said_values_are_where_they_say(message: str) -> None:
    for value in read_parts(TABLE, message, TODAY):
        start, end = value.span
        assert message[start:end] == value.raw
