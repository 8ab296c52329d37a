"""The state of a dialogue: phases, and what counts as filled."""

from __future__ import annotations

import pytest

from duologue.dialogue.conditions import parse
from duologue.dialogue.flow import Collect, PerformAction, SayText
from duologue.dialogue.state import Phase
from tests.dialogue.dialogue_flows import (
    number,
    talk,
)


@pytest.mark.req("D-01")
def test_a_dialogue_is_in_one_of_eight_states() -> None:
    assert [phase.value for phase in Phase] == [
        "idle",
        "understanding",
        "waiting_for_slot",
        "validating_slot",
        "executing_action",
        "confirming",
        "completed",
        "error",
    ]


@pytest.mark.graveyard(24)
@pytest.mark.parametrize("value", [0, False, ""])
def test_zero_false_and_empty_text_are_values(value: object) -> None:
    program = (Collect("one", "one"), SayText("told", "Thanks."))
    talker = talk(*program, slots=(number("one"),), one=value)  # type: ignore[arg-type]
    assert talker.said == "Thanks."
    asked = (
        talk(Collect("one", "one"), PerformAction("go", "go"), slots=(number("one", validator="v"),))
        .says("zero")
        .valid(0)
    )
    assert asked.runs[0].slots == (("one", 0),)
    assert not parse("one is None").holds({"one": value})
