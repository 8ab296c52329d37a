"""An agent is checked when it is created, and one error lists every problem."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.runtime.agent import Agent, InvalidAgent
from duologue.testing import ScriptedBrain


@pytest.mark.parametrize("brain", [None, 5, "text", ScriptedBrain])
def test_what_can_not_be_a_brain_is_refused_when_the_agent_is_made(brain: Any) -> None:
    with pytest.raises(InvalidAgent):
        Agent(brain)


def test_one_error_lists_every_problem_of_an_agent() -> None:
    with pytest.raises(InvalidAgent) as told:
        Agent(None, profile="no such", tools=[5], voice=object(), ears=object())  # type: ignore[arg-type]
    for word in ("brain", "no such", "tool", "voice", "ears"):
        assert word in str(told.value)


@pytest.mark.parametrize("given", ["Book me a flight", (5,)])
def test_suggestions_must_be_a_tuple_of_texts(given: object) -> None:
    with pytest.raises(InvalidAgent, match="suggestions must be a tuple of texts"):
        Agent(lambda request: "hi", suggestions=given)  # type: ignore[arg-type]
