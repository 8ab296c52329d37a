"""An agent is checked when it is created, and one error lists every problem."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.runtime.agent import Agent, InvalidAgent
from duologue.testing import ScriptedBrain, ScriptedVoice


@pytest.mark.parametrize("brain", [None, 5, "text", ScriptedBrain])
def test_what_can_not_be_a_brain_is_refused_when_the_agent_is_made(brain: Any) -> None:
    with pytest.raises(InvalidAgent):
        Agent(brain)


def test_one_error_lists_every_problem_of_an_agent() -> None:
    with pytest.raises(InvalidAgent) as told:
        Agent(None, profile="no such", tools=[5], voice=object(), ears=object())  # type: ignore[arg-type]
    for word in ("brain", "no such", "tool", "voice", "ears"):
        assert word in str(told.value)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"voices": ["marin"]}, "voices must be a dict"),
        ({"voices": {"marin": object()}, "voice": ScriptedVoice()}, "the voice 'marin' in voices must have a method"),
        ({"voices": {"": ScriptedVoice()}, "voice": ScriptedVoice()}, "the names in voices must be texts"),
        ({"voices": {"marin": ScriptedVoice()}}, "pass voice=… as well"),
    ],
)
def test_voices_have_names_and_stand_beside_a_voice(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidAgent, match=why):
        Agent(lambda request: "hi", **given)


@pytest.mark.parametrize("given", ["Book me a flight", (5,)])
def test_suggestions_must_be_a_tuple_of_texts(given: object) -> None:
    with pytest.raises(InvalidAgent, match="suggestions must be a tuple of texts"):
        Agent(lambda request: "hi", suggestions=given)  # type: ignore[arg-type]
