"""What a context does to its running conversation: changing the agent, and ending the call."""

from __future__ import annotations

import pytest

from duologue import Agent, Request
from duologue.core import events as ev
from duologue.runtime.agent import InvalidAgent
from duologue.testing import Call


def echo(request: Request) -> str:
    return f"You said {request.text}."


def test_updated_instructions_reach_the_next_request_only() -> None:
    seen: list[str] = []

    def brain(request: Request) -> str:
        seen.append(request.instructions)
        return "Yes."

    with Call(Agent(brain, instructions="Be kind.")) as call:
        call.user("hello there").settles()
        call.does(lambda: call.context.update(instructions="Be brief."))
        call.user("hello again").settles()
        assert seen == ["Be kind.", "Be brief."]
        assert any(isinstance(record.event, ev.AgentChangeRequested) for record in call.records)


def test_an_update_that_makes_an_invalid_agent_is_refused_at_once() -> None:
    with Call(echo) as call, pytest.raises(InvalidAgent, match="language"):
        call.does(lambda: call.context.update(language="??"))


def test_the_program_ends_the_call_after_everything_is_said() -> None:
    with Call(echo) as call:

        async def bye() -> None:
            call.context.say("Goodbye then.")
            call.context.end(reason="done")

        call.run(bye())
        call.until(lambda: call.conversation.phase == "idle").expect_ended()
        assert call.heard[-1] == "Goodbye then."
        assert call.run(call.conversation.wait()) == "done"
