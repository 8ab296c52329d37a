"""What people want or don't want by its name, and what they do on which day (D-04)."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Direct, Json, Question, Slot, SlotKind, read, read_parts, read_volunteered
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import talk
from tests.dialogue.grammar_replies import WEDNESDAY, ask, said

ROOM = Slot("room", SlotKind.CHOICE, (Choice("single"), Choice("double")))
BREAKFAST = Slot("breakfast", SlotKind.YES_NO)
LIVE_MUSIC = Slot("has_live_music", SlotKind.YES_NO)
ARRIVAL, DEPARTURE = Slot("arrival", SlotKind.DATE), Slot("departure", SlotKind.DATE)
OUT, BACK = Slot("departure_date", SlotKind.DATE), Slot("return_date", SlotKind.DATE)
IN, LEFT = Slot("check_in_date", SlotKind.DATE), Slot("check_out_date", SlotKind.DATE)


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "values"),
    {
        "a double with breakfast": {"room": "double", "breakfast": True},
        "double without breakfast please": {"room": "double", "breakfast": False},
        "a single, no breakfast": {"room": "single", "breakfast": False},
        "a single, with no live music": {"room": "single", "has_live_music": False},
        "with live music": {"has_live_music": True},
    }.items(),
)
def test_a_wish_is_taken_by_its_name(reply: str, values: dict[str, Json]) -> None:
    question = Question(ROOM, "A single or a double?", others=(BREAKFAST, LIVE_MUSIC))
    reading = read(question, reply, WEDNESDAY)
    assert isinstance(reading, Direct)
    assert {value.slot: value.value for value in reading.values} == values


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply",
    [
        "music",
        "no music",
        "breakfast",
        "with a live band",
        "no, breakfast",
        "not with breakfast",
        "is it with breakfast",
    ],
)
def test_half_a_name_or_half_a_wish_is_none(reply: str) -> None:
    assert read_volunteered((BREAKFAST, LIVE_MUSIC), reply, "", WEDNESDAY) is None


def test_a_wish_that_is_denied_is_not_picked_out_either() -> None:
    assert read_parts((BREAKFAST,), "it's not as if I wanted one with breakfast", WEDNESDAY) == ()


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
def test_a_day_goes_to_what_is_done_on_it(slots: tuple[Slot, Slot], reply: str) -> None:
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
def test_a_day_of_something_else_is_nobodys(slots: tuple[Slot, Slot], reply: str) -> None:
    assert read_volunteered(slots, reply, "", WEDNESDAY) is None


def test_the_day_of_the_other_end_does_not_answer_the_question() -> None:
    talker = talk(
        Collect("a", "arrival"),
        Collect("b", "departure"),
        slots=(SlotSpec("arrival", SlotKind.DATE, "From when?"), SlotSpec("departure", SlotKind.DATE, "Until when?")),
    ).says("we'll be leaving on the 22nd")
    assert talker.slots == {"departure": "2025-12-22"}
    assert talker.said == "From when?"


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["I think so", "I guess so", "yeah, I suppose so", "I'd say so"])
def test_a_hedged_yes_is_one(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Would you like breakfast?", "breakfast"), reply) is True


@pytest.mark.parametrize("reply", ["I don't think so", "I wouldn't say so", "I guess not"])
def test_and_a_hedged_no_is_one(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Would you like breakfast?", "breakfast"), reply) is False
