"""The two ends of a trip or a stay."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Direct, NameList, Question, Slot, SlotKind, read, read_volunteered
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import talk
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, said

ARRIVAL, DEPARTURE = Slot("arrival", SlotKind.DATE), Slot("departure", SlotKind.DATE)

OUT, BACK = Slot("departure_date", SlotKind.DATE), Slot("return_date", SlotKind.DATE)

IN, LEFT = Slot("check_in_date", SlotKind.DATE), Slot("check_out_date", SlotKind.DATE)


@pytest.mark.req("D-05")
def test_a_value_said_of_the_other_end_doesnt_fill_the_slot() -> None:
    cities = NameList.of(["Paris", "Lyon"])
    origin = Question(Slot("origin_city", SlotKind.NAME, names=cities), "Where from?")
    assert said(origin, "I'm going to Paris") is None
    assert said(origin, "I'm leaving from Paris") == "Paris"
    assert said(ask(SlotKind.DATE, "From when?", "start_date"), "until the 9th") is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("names", "reply"),
    [
        (("arrival", "departure"), "from march 12 to march 15"),  # past bug: the other way round
        (("arrival_date", "departure_date"), "march 12 until march 15"),
        (("check_in", "check_out"), "from the 12th to the 15th"),
        (("departure_date", "return_date"), "from march 12 to march 15"),
        (("arrival", "end"), "from march 12 to march 15"),
        (("pickup_date", "dropoff_date"), "march 12 to march 15"),
    ],
)
def test_the_first_day_of_two_is_the_one_that_comes_first(names: tuple[str, str], reply: str) -> None:
    first, last = (Slot(name, SlotKind.DATE) for name in names)
    for question in (Question(first, others=(last,)), Question(last, others=(first,))):
        reading = read(question, reply, WEDNESDAY)
        assert isinstance(reading, Direct)
        assert [reading.value_of(name) for name in names] == ["2026-03-12", "2026-03-15"]


def test_until_is_said_of_a_departure_and_from_of_an_arrival() -> None:
    assert said(ask(SlotKind.DATE, "When will you leave?", "departure"), "until the 15th") == "2026-03-15"
    assert said(ask(SlotKind.DATE, "When will you arrive?", "arrival"), "from the 12th") == "2026-03-12"
    assert said(ask(SlotKind.DATE, "When does it begin?", "start_date"), "until the 15th") is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("slots", "reply"),
    [
        ((ARRIVAL, DEPARTURE), "arriving on the 20th and leaving on the 22nd"),
        ((ARRIVAL, DEPARTURE), "we leave on the 22nd and arrive on the 20th"),
        ((ARRIVAL, DEPARTURE), "coming on the 20th, departing on the 22nd"),
        ((OUT, BACK), "leaving on the 20th and returning on the 22nd"),
        ((OUT, BACK), "back on the 22nd, leaving on the 20th"),
        ((IN, LEFT), "checking in on the 20th and checking out on the 22nd"),
        ((IN, LEFT), "check in the 20th, leave the 22nd"),
    ],
)
def test_a_day_fills_the_slot_of_what_happens_on_it(slots: tuple[Slot, Slot], reply: str) -> None:
    reading = read_volunteered(slots, reply, "", WEDNESDAY)
    assert reading is not None
    assert reading.value_of(slots[0].name) == "2026-03-20"
    assert reading.value_of(slots[1].name) == "2026-03-22"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("slots", "reply"),
    [
        ((OUT, BACK), "arriving on the 20th"),  # which flight is that?
        ((ARRIVAL, DEPARTURE), "arriving on the 20th and arriving on the 22nd"),
    ],
)
def test_a_day_that_fits_no_slot_is_not_taken(slots: tuple[Slot, Slot], reply: str) -> None:
    assert read_volunteered(slots, reply, "", WEDNESDAY) is None


def test_the_day_of_the_other_end_does_not_answer_the_question() -> None:
    talker = talk(
        Collect("a", "arrival"),
        Collect("b", "departure"),
        slots=(SlotSpec("arrival", SlotKind.DATE, "From when?"), SlotSpec("departure", SlotKind.DATE, "Until when?")),
    ).says("we'll be leaving on the 22nd")
    assert talker.slots == {"departure": "2025-12-22"}
    assert talker.said == "From when?"
