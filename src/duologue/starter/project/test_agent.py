"""Tests whole conversations on a simulated clock, without a microphone and without waiting. The stories in this folder
are tested too."""

from __future__ import annotations

import pytest

from agent import make_brain
from duologue import Agent


@pytest.fixture
def agent():
    return Agent(make_brain())


def test_a_caller_may_interrupt_and_the_booking_stays(call):
    call.user("I want to book a flight").settles()
    call.user("New York").settles()
    call.user("Los Angeles").interrupts("actually, change the origin to Boston", after_ms=300)
    call.settles()
    call.expect_heard("Boston")
