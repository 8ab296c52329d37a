"""The story of a call in the message of a failed test."""

from __future__ import annotations

import pytest

from duologue.runtime.agent import Agent
from duologue.testing import Call as PhoneCall
from duologue.testing import ScriptedBrain


def test_a_failed_expectation_tells_the_story() -> None:
    with PhoneCall(Agent(ScriptedBrain(["Good day."]))) as call:
        call.user("hello there")
        with pytest.raises(AssertionError) as told:
            call.expect_heard("Goodbye")
    assert "user:  hello there" in str(told.value)
    assert "agent: Good day." in str(told.value)
