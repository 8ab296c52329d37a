"""What users call a slot."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from duologue.dialogue.slot_names import may_stand_for, names_of, only_named
from duologue.lab.check.dialogue.domains import domain, flow
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


def test_a_slot_is_known_by_its_label_its_name_a_word_of_it_and_its_kind() -> None:
    about = domain(
        flow("task", Collect("a", "visit_day"), Collect("b", "guest_count")),
        slots=(
            SlotSpec("visit_day", SlotKind.DATE, "When?", label="arrival"),
            SlotSpec("guest_count", SlotKind.NUMBER, "How many?"),
        ),
    )
    names = names_of(about, "task")
    for called, slot in (("arrival", "visit_day"), ("visit day", "visit_day"), ("date", "visit_day")):
        assert (called, slot) in names
    assert ("guest", "guest_count") in names
    assert [len(called) for called, _ in names] == sorted((len(called) for called, _ in names), reverse=True)
    assert only_named(about, "task", "I meant the date, please") == "visit_day"
    assert only_named(about, "task", "the date is fine") is None


def test_a_question_word_is_no_name_of_a_slot() -> None:
    often = SlotSpec("often", SlotKind.NUMBER, "How often?", label="how often")
    names = dict(names_of(domain(flow("task", Collect("a", "often")), slots=(often,)), "task"))
    assert (names.get("how often"), "how" in names) == ("often", False)


@pytest.mark.parametrize(
    ("called", "may"), {"length": True, "length of the stay": True, "how long": True, "stay": False}.items()
)
def test_the_main_word_of_a_label_may_stand_for_the_slot(called: str, may: bool) -> None:
    stay = SlotSpec("how_long", SlotKind.DURATION, "For how long?", label="length of the stay")
    assert may_stand_for(domain(flow("stay", Collect("a", "how_long")), slots=(stay,)), "how_long", called) is may
