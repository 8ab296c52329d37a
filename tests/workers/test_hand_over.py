"""The tool with which a brain hands over."""

from __future__ import annotations

import asyncio

import pytest

from duologue import Agent, hand_over_to
from duologue.ports.failure import ServiceError
from tests.workers.worker_fakes import NotedJob


def test_the_tool_names_the_agents_that_it_can_hand_over_to() -> None:
    tool = hand_over_to(Agent(lambda request: "", name="billing"), "support").tool
    assert tool.parameters["properties"]["to"]["enum"] == ["billing", "support"]


def test_another_name_is_an_invalid_argument() -> None:
    with pytest.raises(ServiceError, match="one of billing"):
        asyncio.run(hand_over_to("billing").run({"to": "sales"}, NotedJob()))


def test_a_tool_without_agents_is_refused() -> None:
    with pytest.raises(TypeError, match="at least one agent"):
        hand_over_to()


def test_the_brain_is_told_what_the_other_agent_knows() -> None:
    assert "The colleague knows what was said" in hand_over_to("billing").tool.description
    assert "The colleague knows nothing" in hand_over_to("billing", history="none").tool.description
    with pytest.raises(ValueError, match="whole, summary or none, not 'some'"):
        hand_over_to("billing", history="some")  # type: ignore[arg-type]
