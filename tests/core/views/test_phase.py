"""One plain vocabulary: every state of the machine has a phase, and the test kit, the API and the labels use it."""

from __future__ import annotations

from itertools import product

import pytest

from duologue import Agent, ToolCall, profile
from duologue.core.leaves import Link, Reply, User, Voice
from duologue.core.state import initial
from duologue.core.views import PHASES, phase_of
from duologue.observe.labels import LABELS
from duologue.testing import Call, Delay, ScriptedBrain, scripted_tool


def test_every_combination_of_the_regions_has_a_phase() -> None:
    start = initial(profile("confirm"))
    for link, user, voice, reply in product(Link, User, Voice, Reply):
        assert phase_of(start._replace(link=link, user=user, voice=voice, reply=reply)) in PHASES


def test_every_phase_has_a_label_in_every_language() -> None:
    for texts in LABELS.values():
        assert set(PHASES) <= set(texts)


def test_a_call_with_a_tool_passes_through_the_phases_in_order() -> None:
    brain = ScriptedBrain([[ToolCall("lookup")], "It leaves at nine."])
    with Call(Agent(brain, tools=[scripted_tool("lookup", Delay(900), "09:00")])) as call:
        call.user("when does it leave").settles()
        assert call.phases == [
            *(
                "idle",
                "starting",
                "listening",
                "user_speaking",
                "thinking",
                "working",
                "thinking",
                "speaking",
                "listening",
            )
        ]
        assert call.conversation.phase == call.phases[-1] == call.conversation.snapshot().phase


def test_the_newest_phase_of_a_call_is_the_phase_of_its_conversation() -> None:
    with Call(Agent(ScriptedBrain(["A long answer that is not heard to its end."]))) as call:
        call.user("hello").waits(600)
        assert call.phases[-1] == call.conversation.phase == "speaking"
        call.expect_phase("speaking")


def test_a_name_of_another_view_is_refused_with_the_phases() -> None:
    with (
        Call(Agent(ScriptedBrain([]))) as call,
        pytest.raises(ValueError, match="'waitingForCopilot' is not a phase; the phases are idle"),
    ):
        call.expect_phase("waitingForCopilot")
