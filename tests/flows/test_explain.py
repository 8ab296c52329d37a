"""How a message is understood, interpreter by interpreter."""

from __future__ import annotations

import pytest

from duologue.core.errors import DuologueError
from duologue.flows import parse_flows
from duologue.flows.explain import explain
from tests.flows.partly_understood import VISIT

TODAY = "2026-03-04"


def test_the_interpreter_that_took_a_reply_is_the_last_one_tried() -> None:
    found = explain(parse_flows(VISIT), "six", TODAY, "people")
    assert (found.question, found.filled, found.asks_nlu) == ("How many?", {"people": 6}, False)
    assert [one.name for one in found.tried if one.took] == ["value"]
    assert found.tried[-1].took


def test_a_message_for_nlu_is_told_as_such() -> None:
    found = explain(parse_flows(VISIT), "we want to see the castle", TODAY)
    assert (found.phase, found.tried[-1].name, found.asks_nlu) == ("idle", "NLU", True)


def test_a_later_question_can_be_asked() -> None:
    found = explain(parse_flows(VISIT), "this weekend", TODAY, "day")
    assert found.tried[-1].name == "ambiguous value"
    assert found.said == "Did you mean March 7 or March 8?"


def test_an_unknown_slot_is_refused() -> None:
    with pytest.raises(DuologueError, match="no flow asks for slot 'dya'; did you mean 'day'"):
        explain(parse_flows(VISIT), "six", TODAY, "dya")
