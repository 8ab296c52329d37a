"""What users call a slot."""

from __future__ import annotations

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import talk

PEOPLE = SlotSpec("people", SlotKind.NUMBER, "How many?", label="number of guests")


def test_a_name_that_two_slots_share_is_the_name_of_neither() -> None:
    leave = SlotSpec("leave_date", SlotKind.DATE, "When?")
    back = SlotSpec("return_date", SlotKind.DATE, "And back?")
    asked = Collect("a", "leave_date"), Collect("b", "return_date"), Collect("c", "people")
    talker = talk(*asked, slots=(leave, back, PEOPLE))
    talker.says("tomorrow", "december 9", "change the date to december 20")
    assert talker.asked_nlu
    assert talker.means().says("change the return date to december 20").slots["return_date"] == "2025-12-20"
