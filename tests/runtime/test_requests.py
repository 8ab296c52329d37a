"""What a request contains: everything new, once. Brains that only call tools are stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue import Agent
from duologue.core.effects import StartReply
from duologue.core.events import ReplyFinished
from duologue.core.leaves import Ask, Outcome
from duologue.core.settings import Settings
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.ports import Request, ToolCall
from duologue.runtime.requests import Requests
from duologue.runtime.transcript import Transcript
from duologue.testing import Call, Delay, ScriptedBrain, scripted_tool
from tests.runtime.runtime_fakes import Stage, play


def ask(asking: Requests, reply: int) -> Request:
    return asking.make(StartReply(reply=reply, first=1, last=0, ask=Ask.ANSWER), ())


def finish(asking: Requests, reply: int) -> None:
    before = initial(Settings())
    asking.follow(StepRecord(ReplyFinished(at=1, reply=reply), before, before._replace(at=1), (), ()))


@pytest.mark.graveyard(3)
@pytest.mark.req("C-INT-005")
def test_handled_news_stays_handled_when_it_is_reported_late_that_the_reply_before_it_was_heard() -> None:
    transcript = Transcript()
    asking = Requests(transcript, "", 10, "call")
    transcript.begin_reply(1)  # cut off at once: so far nothing of it was heard
    transcript.add_news(1, "The taxi is here.", Outcome.DONE, "taxi")
    assert [news.text for news in ask(asking, 2).news] == ["The taxi is here."]
    finish(asking, 2)
    transcript.end_reply(1, "One mo—", "ment.", 300, True)  # the line knows best, if late
    assert ask(asking, 3).news == ()


@pytest.mark.req("C-INT-005")
def test_news_after_an_empty_reply_is_passed_on_once() -> None:
    transcript = Transcript()
    asking = Requests(transcript, "", 10, "call")
    for number in (1, 2, 3):
        transcript.begin_reply(number)
        transcript.add_news(number, f"News {number}.", Outcome.DONE, "job")
        assert [news.text for news in ask(asking, 10 + number).news] == [f"News {number}."]
        finish(asking, 10 + number)
    assert ask(asking, 20).news == ()


@pytest.mark.req("C-AC-008")
def test_a_brain_that_only_ever_calls_tools_does_not_keep_the_person_waiting_for_ever() -> None:
    brain = ScriptedBrain(lambda request: ToolCall("work"))

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.sleep(600_000)
        assert stage.heard or stage.told(sg.Failed), f"ten minutes and {len(brain.requests)} requests, and not a word"

    play(scene, brain, tools=[scripted_tool("work", Delay(2_000))])


def test_words_that_a_tool_call_has_handled_are_not_new_again() -> None:
    brain = ScriptedBrain([ToolCall("look"), "Here it is."])
    with Call(Agent(brain, tools=[scripted_tool("look", "a room")])) as call:
        call.user("is there a room").expect_heard("Here it is.")
        first, second = brain.requests
        assert (first.text, first.outputs) == ("is there a room", ())
        assert (second.text, [(o.tool, o.output) for o in second.outputs]) == ("", [("look", "a room")])


def test_a_brain_that_speaks_and_calls_for_ever_is_stopped() -> None:
    made: list[int] = []

    def book() -> str:
        made.append(1)
        return "ok"

    async def eager(request: Any) -> AsyncIterator[Any]:
        yield "Booking it now."
        yield ToolCall("book")

    with Call(Agent(eager, tools=[book], tool_rounds_max=3)) as call:
        call.user("a table").waits(60_000)
        assert len(made) == 4
        assert any(isinstance(signal, sg.Failed) for signal in call.signals)
