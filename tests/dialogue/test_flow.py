"""Flows as data: what slots, flows and domains derive from their fields."""

from __future__ import annotations

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Domain, Flow, SayText, SlotSpec


def test_a_slot_is_called_by_its_label_or_by_its_name() -> None:
    assert SlotSpec("visit_day", SlotKind.DATE, "When?").display_name == "visit day"
    assert SlotSpec("visit_day", SlotKind.DATE, "When?", label="date").display_name == "date"


def test_the_grammars_get_what_they_need_of_a_slot() -> None:
    slot = SlotSpec("time", SlotKind.TIME, "When?", hours=(9, 17), is_optional=True).grammar_slot
    assert (slot.name, slot.kind, slot.hours, slot.may_be_any) == ("time", SlotKind.TIME, (9, 17), True)


def test_a_flow_lists_each_slot_once_in_the_order_of_its_questions() -> None:
    program = (Collect("a", "size"), SayText("b", "Fine."), Collect("c", "colour"), Collect("d", "size"))
    assert Flow("order", "", program).slots == ("size", "colour")


def test_hidden_flows_are_not_offered() -> None:
    shown, hidden = Flow("shown", "", ()), Flow("hidden", "", (), is_hidden=True)
    assert Domain({"shown": shown, "hidden": hidden}, {}).offered == (shown,)
