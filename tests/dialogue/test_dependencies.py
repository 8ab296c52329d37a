"""A confirmation covers one run, and only the values it was given for."""

from __future__ import annotations

import pytest

from duologue.dialogue.flow import Assign, Collect, Confirm, Jump, PerformAction
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    COLOUR,
    SIZE,
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
    # Once: a correction of what the question didn't tell runs the action again without another yes.
    talker = talk(*CONFIRMED_PROGRAM, slots=(SIZE, AMOUNT, COLOUR)).says("small", "two", "yes").done().says(text)
    assert not talker.runs
