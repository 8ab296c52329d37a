"""Answers in one clause of a longer reply."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Json, SlotKind
from duologue.dialogue.flow import Collect, SayText, SlotSpec
from tests.dialogue.dialogue_flows import COLOUR, Talker, number, talk

DAY = SlotSpec("day", SlotKind.DATE, "Which day?", prefers="first")
TIME = SlotSpec("time", SlotKind.TIME, "What time?", hours=(8, 20))
LIFT = SlotSpec("lift", SlotKind.YES_NO, "Do you need a lift?")
CODE = SlotSpec("code", SlotKind.CODE, "Which number?")
COUNT = number("count")
OWNER = SlotSpec("owner", SlotKind.NAME, "What's your name?")


def asked(slot: SlotSpec, *others: SlotSpec) -> Talker:
    steps = [Collect(one.name, one.name) for one in (slot, *others)]
    return talk(*steps, SayText("end", "Done."), slots=(slot, *others))


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("slot", "text", "value"),
    [
        (TIME, "ten, the roads are empty by then", "10:00"),
        (DAY, "my brother is visiting, how about Friday", "2025-12-05"),
        (DAY, "not Wednesday, that's my bridge day. Would Thursday be all right?", "2025-12-04"),
        (DAY, "any day but Friday, what about Monday", "2025-12-08"),
        (CODE, "it belongs to my company, lima november seven zero", "LN70"),
        (COUNT, "dunno, four", 4),
        (COUNT, "six or so", 6),
        (COUNT, "five. No, six, I forgot the attic", 6),
        (DAY, "Friday I think, no, Saturday, my husband works on Friday", "2025-12-06"),
        (DAY, "the 12th, it's a Friday", "2025-12-12"),
        (COUNT, "oh I hardly ever use it, say six", 6),
        (LIFT, "I don't think so, my sister picks me up", False),
        (LIFT, "yes, no actually, my wife can drive me, so no", False),
        (COLOUR, "it suits the sofa, the blue one", "blue"),
        (COUNT, "seven, no eight, my cousin forgot himself", 8),
        (COUNT, "nine, the last one comes on Sunday", 9),
        (COUNT, "say eleven to be on the safe side", 11),
        (LIFT, "well, one of us could walk and one couldn't, but yes", True),
        (LIFT, "yes but not all week, well no", False),
        (TIME, "eleven my aunt drives me", "11:00"),
        (DAY, "Thursday before eleven", "2025-12-04"),
        (DAY, "tomorrow after half past three", "2025-12-03"),
        (LIFT, "no, a taxi will do", False),
        (OWNER, "clara voss i told your colleague", "clara voss"),
        (OWNER, "yes my uncle's, edwin voss", "edwin voss"),
    ],
)
def test_the_clause_that_answers_is_taken_and_announced(slot: SlotSpec, text: str, value: Json) -> None:
    talker = asked(slot, number("later")).says(text)
    assert (talker.state.slots, talker.asked_nlu) == ({slot.name: value}, False)
    assert talker.said.startswith("So far I have ")


@pytest.mark.parametrize(
    ("slot", "text"),
    [
        (COUNT, "two for me, three for him"),  # two answers
        (COUNT, "ninety for the doctor, thirty for the pills"),
        (DAY, "Friday, no that's no good"),
        (DAY, "cancel that, I'll come on Friday some time"),
        (LIFT, "yes, if it's free of charge"),
        (LIFT, "no, but my son might"),
        (LIFT, "yes please, or maybe my sister drives"),
        (DAY, "Friday, I can't"),
        (DAY, "Friday i can't make it"),
        (OWNER, "twelve elm row it's on the corner"),
        (OWNER, "lovely weather it never rains"),
    ],
)
def test_a_clause_that_another_one_takes_back_is_no_answer(slot: SlotSpec, text: str) -> None:
    talker = asked(slot, number("later")).says(text)
    assert slot.name not in talker.slots


def test_a_question_beside_the_answer_is_not_lost() -> None:
    talker = asked(TIME, COUNT).says("quarter past two. how long does it take?")
    assert talker.said == "So far I have time 2:15 pm. I can't answer that here. count?"
    assert talker.slots == {"time": "14:15"}


def test_an_answer_with_several_meanings_is_asked_about() -> None:
    late = SlotSpec("time", SlotKind.TIME, "What time?")
    talker = asked(late, COUNT).says("seven, before work")
    assert talker.said == "Did you mean 7 am or 7 pm?"
    assert talker.says("in the morning, obviously").slots == {"time": "07:00"}


def test_other_slots_get_what_is_clear_in_the_other_clauses() -> None:
    talker = asked(COLOUR, DAY, COUNT).says("the red one, my mother gave it to me, on Friday please")
    assert talker.slots == {"colour": "red", "day": "2025-12-05"}
    talker = asked(COLOUR, DAY, COUNT).says("the red one, and do you have it on Friday?")
    assert talker.slots == {"colour": "red"}
