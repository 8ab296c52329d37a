"""Several slots filled by one reply."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.dialogue.english import Direct, NameList, Question, Slot, SlotKind, Unclear, read, read_parts
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import number, talk
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, named, said

PARTY = Slot("people", SlotKind.NUMBER)

DAY = Slot("day", SlotKind.DATE)

AT = Slot("time", SlotKind.TIME)

TRIP = (
    Slot("from_city", SlotKind.NAME, names=NameList.of(["Paris", "Lyon", "Nice"])),
    Slot("to_city", SlotKind.NAME, names=NameList.of(["Paris", "Lyon", "Nice"])),
)

STAY = (Slot("check_in_date", SlotKind.DATE), Slot("check_out_date", SlotKind.DATE))


def values(asked: Slot, reply: str, *others: Slot) -> dict[str, Any]:
    reading = read(Question(asked, others=others), reply, WEDNESDAY)
    return {value.slot: value.value for value in reading.values} if isinstance(reading, Direct) else {}


MONEY = ask(SlotKind.MONEY, "How much?", "amount")

TIME = ask(SlotKind.TIME, "At what time?", "time", hours=(11, 23))

WHICH_DAY = ask(SlotKind.DATE, "On which day?", "day")

CITIES = named(
    "Paris", "New York", "New York City", "Lyon", "Port Louis", "Saint Louis", "Cambridge", "Reading", "The Hague"
)


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["three nights", "about 250", "four", "19.30", "three hours"])
def test_a_number_that_was_not_asked_for_does_not_count_guests(reply: str) -> None:
    # Past bug: "three nights" to "when will you leave?" made three guests, and "250" as many as that.
    day = SlotSpec("day", SlotKind.DATE, "Which day?")
    talker = talk(Collect("a", "day"), Collect("b", "guests"), slots=(day, number("guests")))
    assert talker.says(reply).slots == {}
    assert talker.asked_nlu


@pytest.mark.parametrize("reply", ["two people", "six of us", "4 guests please"])
def test_a_number_of_guests_counts_them_whenever_it_is_said(reply: str) -> None:
    day = SlotSpec("day", SlotKind.DATE, "Which day?")
    talker = talk(Collect("a", "day"), Collect("b", "guests"), slots=(day, number("guests")))
    assert list(talker.says(reply).slots) == ["guests"]


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["20 to 22 march", "12 until 15 march", "20 - 22 march"])
def test_the_first_half_of_a_range_of_days_does_not_count_guests(reply: str) -> None:
    # Past bug: "20 to 22 March" made twenty guests.
    days = (
        SlotSpec("arrival", SlotKind.DATE, "When will you arrive?"),
        SlotSpec("departure", SlotKind.DATE, "And leave?"),
    )
    steps = (Collect("a", "arrival"), Collect("b", "departure"), Collect("c", "guests"))
    assert "guests" not in talk(*steps, slots=(*days, number("guests"))).says(reply).slots


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("asked", "others", "reply", "values"),
    [
        (PARTY, (DAY, AT), "two people on Friday at eight pm", {"people": 2, "day": "2026-03-06", "time": "20:00"}),
        (DAY, (PARTY, AT), "tomorrow for 4, please", {"day": "2026-03-05", "people": 4}),
        (AT, (PARTY, DAY), "a table for two at 8 pm", {"people": 2, "time": "20:00"}),
        (TRIP[0], TRIP[1:], "from Paris to Nice", {"from_city": "Paris", "to_city": "Nice"}),
        (TRIP[1], TRIP[:1], "I'm leaving from Lyon", {"from_city": "Lyon"}),
        (
            Slot("rooms", SlotKind.NUMBER),
            (Slot("nights", SlotKind.NUMBER),),
            "two rooms for three nights",
            {"rooms": 2, "nights": 3},
        ),
    ],
)
def test_several_slots_are_taken_if_all_is_understood(
    asked: Slot, others: tuple[Slot, ...], reply: str, values: dict[str, object]
) -> None:
    reading = read(Question(asked, others=others), reply, WEDNESDAY)
    assert isinstance(reading, Direct), reading
    assert {value.slot: value.value for value in reading.values} == values
    assert all(reply[slice(*value.span)] == value.raw for value in reading.values)


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("asked", "others", "reply"),
    [
        (PARTY, (DAY, AT), "two people on Friday near the window"),
        (PARTY, (DAY, AT), "two people on Friday at half past six"),
        (PARTY, (DAY, AT), "two people, not on Friday"),
        (TRIP[0], TRIP[1:], "Paris and Nice"),
        (STAY[0], STAY[1:], "Friday and Saturday"),
        (Slot("adults", SlotKind.NUMBER), (Slot("children", SlotKind.NUMBER),), "two and three"),
    ],
)
def test_several_slots_are_handed_on_if_anything_isnt_sure(asked: Slot, others: tuple[Slot, ...], reply: str) -> None:
    assert isinstance(read(Question(asked, others=others), reply, WEDNESDAY), Unclear)


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day", "time"),
    [
        ("tonight at eight", "2026-03-04", "20:00"),
        ("this evening at 8", "2026-03-04", "20:00"),
        ("tomorrow evening at 8", "2026-03-05", "20:00"),
        ("at eight tonight", "2026-03-04", "20:00"),
    ],
)
def test_a_day_and_an_hour_that_share_a_word_are_both_taken(reply: str, day: str, time: str) -> None:
    # Past bug: whichever was asked for, the other one was lost.
    assert values(DAY, reply, AT) == {"day": day, "time": time}
    assert values(AT, reply, DAY) == {"day": day, "time": time}
    assert said(ask(SlotKind.TIME), reply) == time


@pytest.mark.req("D-05")
def test_tickets_are_not_adults_where_children_count_apart() -> None:
    adults, children = Slot("adults", SlotKind.NUMBER), Slot("children", SlotKind.NUMBER)
    assert values(DAY, "two tickets for Friday", adults, children) == {}
    assert values(DAY, "two adults on Friday", adults, children) == {"adults": 2, "day": "2026-03-06"}


@pytest.mark.req("D-04")
def test_a_listed_place_is_taken_along_with_other_values() -> None:
    places = named("Airport", "Harbour Street", is_open=False).slot
    assert values(places, "airport tomorrow at ten", DAY, AT) == {
        "place": "Airport",
        "day": "2026-03-05",
        "time": "10:00",
    }
    assert values(AT, "ten at the airport hotel", places) == {"time": "10:00"}


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "ends"),
    {
        "from Monday to Friday": ("2026-03-09", "2026-03-13"),  # past bug: the Friday before that Monday
        "from Monday to Wednesday": ("2026-03-09", "2026-03-11"),  # past bug: it was asked which, today or in a week
        "from the 28th until the 2nd": ("2026-03-28", "2026-04-02"),
    }.items(),
)
@pytest.mark.parametrize("names", [("first_day", "last_day"), ("pickup_date", "return_date"), ("arrival", "departure")])
def test_the_end_of_a_range_is_not_before_its_beginning(
    reply: str, ends: tuple[str, str], names: tuple[str, str]
) -> None:
    first, last = (Slot(name, SlotKind.DATE) for name in names)
    assert values(first, reply, last) == dict(zip(names, ends, strict=True))
    told = read_parts((first, last), f"she has a bad cold {reply}", WEDNESDAY)
    assert told[0].value == ends[0]
    assert told[1:] == () or told[1].value == ends[1]


@pytest.mark.req("D-05")
def test_people_are_not_child_seats() -> None:
    # Past bug: "two people" wanted two of them.
    seats = Slot("child_seats", SlotKind.NUMBER)
    assert values(DAY, "2 people on Friday", seats) == {}
    assert values(DAY, "2 people on Friday", Slot("people", SlotKind.NUMBER)) == {"day": "2026-03-06", "people": 2}


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["ten euros a month", "Friday, ten euros each", "Friday, my flight is at seven pm"])
def test_a_rate_or_the_time_of_a_flight_does_not_fill_one_of_several_slots(reply: str) -> None:
    reading = read(Question(WHICH_DAY.slot, WHICH_DAY.text, others=(MONEY.slot, TIME.slot)), reply, "2026-03-04")
    assert not isinstance(reading, Direct)


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
def test_one_preposition_decides_both_ends_of_a_trip(reply: str, trip: dict[str, str] | None) -> None:
    names = CITIES.slot.names
    ends = Slot("origin", SlotKind.NAME, names=names), Slot("destination", SlotKind.NAME, names=names)
    reading = read(Question(ends[0], "From where?", others=ends[1:]), reply, WEDNESDAY)
    found = {value.slot: value.value for value in reading.values} if isinstance(reading, Direct) else None
    assert found == trip


@pytest.mark.req("D-04")
def test_the_asked_name_is_taken_along_with_other_values() -> None:
    # Past bug: "mark" and "price" are ordinary words, so the name was lost.
    guest, born = Slot("guest", SlotKind.NAME), Slot("born", SlotKind.DATE, is_past=True)
    text = "my name is Mark Price and I was born on the third of May 1990"
    reading = read(Question(guest, "What's your name?", others=(born,)), text, "2026-03-04")
    assert isinstance(reading, Direct)
    assert {value.slot: value.value for value in reading.values} == {"guest": "Mark Price", "born": "1990-05-03"}
