"""A flow as a tool of another brain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue import Agent, CallOutput, LocalNlu, Request, ToolCall
from duologue.flows import parse_flows
from duologue.flows.registry import Registry
from duologue.flows.tool import FlowTool
from duologue.ports.failure import ServiceError
from duologue.testing import Call
from tests.workers.worker_fakes import NotedJob

FLOWS = """
version: 1
slots:
  meter:
    type: number
    prompt: What does your meter show?
flows:
  report_meter:
    description: report a meter
    examples: [I want to report my meter]
    steps:
      - collect: meter
    completed: "Thank you."
"""


def tool() -> FlowTool:
    return FlowTool(parse_flows(FLOWS), Registry(), LocalNlu(words_only=True), "report_meter")


async def brain(request: Request) -> AsyncIterator[Any]:
    yield "What else?" if request.outputs else ToolCall("report_meter", {})


@pytest.mark.parametrize(
    ("reply", "state", "slots"), [("four hundred", "completed", {"meter": "400"}), ("cancel that", "cancelled", {})]
)
def test_the_result_of_a_flow_goes_to_the_brain_that_started_it(reply: str, state: str, slots: Any) -> None:
    with Call(Agent(brain, tools=[tool()])) as call:
        call.user("hello there").expect_heard("What does your meter show?")
        call.user(reply).expect_heard("What else?")
        (output,) = [item.output for item in call.history if isinstance(item, CallOutput)]
        found = json.loads(output)
        assert found["state"] == state
        assert state == "cancelled" or found["slots"] == slots


def test_a_flow_without_a_call_says_that_it_needs_one() -> None:
    with pytest.raises(ServiceError, match="only during a call"):
        asyncio.run(tool().run({}, NotedJob()))
