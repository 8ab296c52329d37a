"""What a client that reconnects is sent: open questions, and turns that got no answer."""

from __future__ import annotations

import pytest

from duologue.observe import signals as sg
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.server.missed_messages import LOST_MAX, MissedMessages
from duologue.server.server_messages import message
from duologue.testing import (
    AskPerson,
    Delay,
    Hang,
    ScriptedBrain,
    ScriptedEars,
    ScriptedVoice,
    scripted_tool,
)
from tests.server.running_server import RunningServer, agent_that_says, quick_to_give_up, serve


def test_an_open_question_of_a_job_is_sent_again_after_a_reconnect() -> None:
    def make() -> Agent:
        brain = ScriptedBrain([[ToolCall("book", {})], "It is booked."])
        return Agent(
            brain, ears=ScriptedEars(), voice=ScriptedVoice(), tools=[scripted_tool("book", AskPerson("Aisle?"))]
        )

    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        await first.send("type", text="book it")
        asked = await first.expect("work", event="asked")
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        assert await second.expect("work", event="asked") == asked
        await second.send("answer", call=asked["call"], text="yes")
        await second.expect("work", event="ended")

    serve(script, make)


def test_an_answered_question_of_a_job_is_not_sent_again() -> None:
    def make() -> Agent:
        brain = ScriptedBrain([[ToolCall("book", {})], "It is booked."])
        steps = (AskPerson("Aisle?"), Delay(60_000))
        return Agent(brain, ears=ScriptedEars(), voice=ScriptedVoice(), tools=[scripted_tool("book", *steps)])

    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        await first.send("type", text="book it")
        asked = await first.expect("work", event="asked")
        await first.send("answer", call=asked["call"], text="yes")
        await running.until(
            lambda: not running.conversations.served[began["conversation"]].conversation.engine.tool_calls.asking
        )
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        await second.expect("work", event="started")
        await second.send("ping", t=1)
        await second.expect("pong")
        assert second.told("work", event="asked") == []

    serve(script, make)


@pytest.mark.req("L-14")
def test_a_turn_lost_while_no_client_was_connected_is_reported_after_a_reconnect() -> None:
    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        await first.send("type", text="is anybody there")
        await first.expect("state", state="processing")
        first.vanish()
        await running.until(lambda: not running.conversations.served)
        stranger = await running.connect()
        await stranger.hello("mallory", conversation=began["conversation"], key="wrong")
        await stranger.expect("notification", code="gone")
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        await second.expect("notification", code="gone")
        lost = await second.expect("notification", code="lost")
        assert "is anybody there" in lost["message"]
        assert "anybody" not in str(stranger.messages)

    serve(script, agent_that_says([[Hang()]], profile=quick_to_give_up()))


def test_a_lost_turn_is_reported_once_unless_a_client_was_connected() -> None:
    missed = MissedMessages()
    missed.note(sg.Lost(0, 1, 2), message("x", n=1), has_client=True)
    missed.note(sg.Lost(0, 3, 3), message("x", n=2), has_client=False)
    assert missed.dump() == [message("x", n=2)]
    assert missed.lost() == [message("x", n=2)]
    assert missed.lost() == []
    assert list(missed.lost_turns) == [1, 2, 3]


def test_only_the_newest_lost_turns_are_stored() -> None:
    missed = MissedMessages()
    for turn in range(LOST_MAX + 5):
        missed.note(sg.Lost(0, turn, turn), message("x", n=turn), has_client=False)
    assert [lost["payload"]["n"] for lost in missed.lost()] == list(range(5, LOST_MAX + 5))
