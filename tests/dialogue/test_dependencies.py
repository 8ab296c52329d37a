"""A confirmation covers one run, and only the values it was given for."""

from __future__ import annotations

import pytest

from duologue.dialogue.dependencies import dependants
from duologue.dialogue.flow import Assign, Collect, Confirm, Jump, PerformAction
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    COLOUR,
    SIZE,
    number,
    talk,
)


@pytest.mark.req("D-14")
def test_an_action_in_a_loop_is_confirmed_each_time() -> None:
    talker = talk(
        Collect("size", "size"),
        Confirm("sure", "Add it?"),
        PerformAction("add", "add", ("size",)),
        Assign("again", (("size", None),)),
        Jump("round", 0),
        slots=(SIZE,),
    )
    first = talker.says("small", "yes").runs[0].key
    assert talker.done().says("small").phase == "confirming"
    assert talker.says("yes").runs[0].key != first


CONFIRMED_PROGRAM = (
    Collect("size", "size"),
    Collect("amount", "amount"),
    Confirm("sure", "Pay {amount}?"),
    PerformAction("pay", "pay"),
    Collect("colour", "colour"),
)


@pytest.mark.req("D-14")
@pytest.mark.parametrize("text", ["change the size to large", "go back"])
def test_an_action_never_runs_twice_for_one_yes(text: str) -> None:
    # Past bug: correcting a slot that the question didn't name ran the action again without another yes.
    talker = talk(*CONFIRMED_PROGRAM, slots=(SIZE, AMOUNT, COLOUR)).says("small", "two", "yes").done().says(text)
    assert not talker.runs


def test_a_slot_depends_on_others_directly_and_through_them() -> None:
    slots = (
        number("a"),
        number("b", depends_on=("a",)),
        number("c", depends_on=("b",)),
        number("d"),
    )
    about = domain(flow("task", Collect("a", "a")), slots=slots)
    assert dependants(about, "a") == {"b", "c"}
    assert dependants(about, "c") == set()
