"""Messages that were not understood, and help."""

from __future__ import annotations

import pytest

from duologue.dialogue.flow import Collect
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import OTHER, SIZE, Talker, talk


@pytest.mark.req("D-12")
def test_a_second_miss_in_a_row_gives_an_example() -> None:
    talker = Talker(domain(flow("size", Collect("size", "size")), slots=(SIZE,)))
    assert talker.says(OTHER).means().said == "Sorry, I didn't understand. I can help you with: do size."
    assert talker.says(OTHER).means().said == "Sorry, I didn't understand. You could say: size."


@pytest.mark.req("D-12")
def test_a_miss_at_a_question_keeps_the_flow() -> None:
    talker = talk(Collect("size", "size"), slots=(SIZE,)).says(OTHER).means()
    assert (talker.phase, talker.said) == ("waiting_for_slot", "Sorry, I didn't get that. size?")
