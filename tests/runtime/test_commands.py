"""What a context does to its running conversation: changing the agent, and ending the call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from duologue import Agent, CallInfo, Context, NotPossible, Phrases, Request
from duologue.core import events as ev
from duologue.replay.journal import read_journal, replay
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


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("transfer", lambda context: context.transfer("+4930123456")),
        ("send_digits", lambda context: context.send_digits("1")),
        ("hold", lambda context: context.hold()),
        ("record", lambda context: context.record()),
    ],
)
def test_what_only_a_telephone_can_do_is_refused_by_name_on_another_line(
    name: str, action: Callable[[Context[Any]], Awaitable[None]]
) -> None:
    with Call(echo, info=CallInfo(line="browser")) as call:

        async def act() -> None:
            await action(call.context)

        with pytest.raises(NotPossible, match=f"^{name} isn't possible on the line 'browser'$"):
            call.run(act())
        call.user("hello there").expect_heard("You said hello there.")


def test_everything_that_a_program_does_is_in_the_journal_and_is_replayed(tmp_path: Path) -> None:
    billing = Agent(echo, name="billing", phrases=Phrases(greeting="Billing, hello."))
    answers: list[str] = []
    with Call(Agent(echo, name="desk", agents=(billing,)), journal=tmp_path / "call.jsonl") as call:

        async def acts() -> None:
            assert await call.context.say("One moment please.") == "One moment please."
            call.context.update(instructions="Be brief.")
            await call.context.hand_over("billing")
            answers.append(await call.context.ask("What is your number?", limit_s=5))
            call.context.end()

        call.run(acts())
        call.expect_ended()
    assert answers == [""]
    with (tmp_path / "call.jsonl").open() as lines:
        journal = read_journal(lines)
    kinds = {type(record.event) for record in replay(journal)}  # raises where a state differs
    assert journal.complete
    assert {ev.SpeechRequested, ev.AgentChangeRequested, ev.EndAfterSpeaking} <= kinds
