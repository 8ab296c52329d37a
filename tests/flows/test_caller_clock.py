"""The caller's date and time."""

from __future__ import annotations

import datetime

import pytest

from duologue import Agent
from duologue.flows import parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.caller_clock import today_in
from duologue.flows.registry import Registry
from duologue.nlu.local import LocalNlu
from duologue.testing import Call

EAST, WEST = "Pacific/Kiritimati", "Etc/GMT+12"  # 26 hours apart: never the same day
FLOWS = """
version: 1
time_zone: {zone}
slots:
  day: {{type: date, prompt: "Which day?"}}
flows:
  ring:
    description: order a call
    examples: [call me back, I want a call, order a call]
    steps:
      - collect: day
    completed: "On {{day}}."
"""


def day_said(zone: str) -> str:
    """What "today" is in a call to this zone."""
    brain = FlowBrain(parse_flows(FLOWS.format(zone=zone), "ring.yaml"), Registry(()), LocalNlu(words_only=True))
    with Call(Agent(brain)) as call:
        call.user("order a call").expect_heard("Which day?")
        call.user("today").settles()
        return call.heard[-1]


@pytest.mark.req("D-06")
def test_today_is_the_date_where_the_callers_are() -> None:
    assert day_said(EAST) != day_said(WEST)


def test_the_time_is_given_to_the_minute_and_without_a_zone() -> None:
    for zone in ("", EAST):
        now = datetime.datetime.fromisoformat(today_in(zone)())
        assert now.tzinfo is None
        assert (now.second, now.microsecond) == (0, 0)
