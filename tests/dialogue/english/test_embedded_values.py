"""Values that are clear by themselves in a message that isn't wholly understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.dialogue.english import Choice, NameList, Slot, SlotKind, read_parts
from duologue.dialogue.english.embedded_values import is_all_values, is_withdrawn, read_first, unsettled_slots
from duologue.dialogue.english.tokens import tokens_of
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask

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


def found(slots: tuple[Slot, ...], message: str) -> dict[str, object]:
    return {value.slot: value.value for value in read_parts(slots, message, TODAY)}


CITIES = NameList.of(["Boston", "Chicago", "Denver"])

TRIP = (
    Slot("origin", SlotKind.NAME, names=CITIES),
    Slot("destination", SlotKind.NAME, names=CITIES),
    Slot("budget", SlotKind.MONEY),
    Slot("nights", SlotKind.NUMBER),
)


@pytest.mark.parametrize(
    ("text", "are"),
    {
        "Friday at 7": True,
        "tomorrow till Friday": True,
        "on the weekend": True,
        "I'd say about 90 a month": True,
        "I need a car for the weekend": False,  # past bug: nothing but a day
        "are you open on Saturdays": False,
        "anything": False,
    }.items(),
)
def test_days_and_amounts_alone_do_not_ask_for_a_task(text: str, are: bool) -> None:
    assert is_all_values(text, WEDNESDAY) is are


@pytest.mark.req("D-05")
def test_a_second_number_makes_the_first_one_doubtful() -> None:
    # Past bug: "two months, maybe three" were two.
    slots = (Slot("length", SlotKind.DURATION),)
    assert read_parts(slots, "two months, maybe three", WEDNESDAY) == ()
    assert read_parts(slots, "two months because I am away", WEDNESDAY)[0].value == "P2M"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("reply", "count"),
    {
        "one, for the baby": 1,
        "two, our neighbour comes along": 2,
        "one, maybe two": None,
        "one, no, two": None,
        "two, is that possible": None,
        "for the baby": None,
    }.items(),
)
def test_a_bare_number_may_be_explained_behind_a_pause(reply: str, count: int | None) -> None:
    asked = ask(SlotKind.NUMBER, "How many child seats do you need?", "child_seats")
    value = read_first(asked, reply, WEDNESDAY)
    assert (value.value if value is not None else None) == count


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
def test_values_that_are_clear_by_themselves_are_taken(message: str, values: dict[str, object]) -> None:
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
        "yes of course it is for smokers like my uncle",  # no question was asked
        "Grandma Miller is coming with her famous hat",
        "",
        "\x00\xff",
        "x" * 100_000,
    ],
)
def test_a_doubtful_value_is_not_taken(message: str) -> None:
    assert found(TABLE, message) == {}


def test_a_number_fills_only_the_slot_that_it_counts_for() -> None:
    assert found(TRIP, "three nights with my 2 kids in some cosy hotel") == {"nights": 3}
    assert found(TABLE, "my 3 dogs would love a walk beforehand") == {}


def test_from_and_to_decide_the_ends_of_a_trip() -> None:
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
def test_every_value_is_at_its_span(message: str) -> None:
    for value in read_parts(TABLE, message, TODAY):
        start, end = value.span
        assert message[start:end] == value.raw


@pytest.mark.parametrize(
    ("text", "values", "unsettled"),
    [
        ("a table sometime next week, ideally tuesday, for the whole gang", {"day": "2026-03-10"}, ()),
        ("a table this weekend for the whole gang", {}, ("day",)),
        ("a table on monday or tuesday for the whole gang", {}, ("day",)),
        ("a table in june for the whole gang, ideally on the third", {}, ("day",)),
        ("we were there on monday and the whole gang loved it", {}, ()),
        ("a table on friday for the whole gang", {"day": "2026-03-06"}, ()),
    ],
)
def test_days_that_cant_be_taken_are_named(text: str, values: dict[str, object], unsettled: tuple[str, ...]) -> None:
    slots = TABLE[1:3]
    assert found(slots, text) == values
    assert unsettled_slots(slots, text, TODAY) == unsettled


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "message",
    [
        "forty pounds I guess, or no, let's make it sixty with the cake",
        "sixty euros for the hotel and twenty for the taxi",
        "thirty pounds, sorry, I forgot the shipping",
    ],
)
def test_an_amount_that_is_withdrawn_or_one_of_several_is_not_picked_out(message: str) -> None:
    assert read_parts((Slot("amount", SlotKind.MONEY),), message, WEDNESDAY) == ()


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "message", ["forty pounds for the two of us", "forty pounds, no hurry", "forty pounds for my aunt's birthday"]
)
def test_an_amount_with_other_words_is_picked_out(message: str) -> None:
    found = read_parts((Slot("amount", SlotKind.MONEY),), message, WEDNESDAY)
    assert [one.value for one in found] == [{"amount": 40, "currency": "GBP"}]


@pytest.mark.req("D-05")
def test_a_day_or_a_count_that_is_withdrawn_is_not_picked_out() -> None:
    day, count = Slot("day", SlotKind.DATE), Slot("people", SlotKind.NUMBER)
    assert read_parts((day,), "on Friday with my boss, no, on Monday I think", WEDNESDAY) == ()
    assert read_parts((day,), "tomorrow, no wait, it depends on the weather", WEDNESDAY) == ()
    assert read_parts((count,), "two people in the tent and two people in the van", WEDNESDAY) == ()
    assert is_withdrawn(tokens_of("Friday, no, Monday"), 1)
    assert not is_withdrawn(tokens_of("Friday, no rush"), 1)


@pytest.mark.req("D-04", "D-05")
def test_a_time_after_till_is_not_the_time_of_a_beginning() -> None:
    begin, end = Slot("begin", SlotKind.TIME), Slot("end_time", SlotKind.TIME)
    assert found((begin,), "it went on from nine or so until 2 am") == {}
    assert found((begin,), "we begin at 2 am") == {"begin": "02:00"}
    assert found((end,), "we have it until 5 pm") == {"end_time": "17:00"}
