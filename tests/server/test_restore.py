"""Conversations that can't be resumed after a restart: they end, report what they owe, and aren't restored again."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from duologue.core.codec import event_to_json
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.server.restore import RECEIVED_MS, played_by_now, read_events
from duologue.testing import Hang, ScriptedBrain, ScriptedVoice
from tests.server.moving_nodes import Node, Page, hello_of, store_here
from tests.server.recorded_steps import agent_that_answers, steps_of_a_call


class Changed(ScriptedBrain):
    """A brain that can't read the state that an earlier version stored."""

    def remember(self, memory: Any) -> None: ...

    async def has_more(self, conversation: str) -> bool:
        raise KeyError(conversation)


class Slow(Changed):
    """A brain whose restore never returns."""

    async def has_more(self, conversation: str) -> bool:
        await asyncio.sleep(3_600)
        return False


@pytest.mark.req("L-19")
def test_a_conversation_that_never_resumes_can_be_ended() -> None:
    async def scene() -> None:
        store = store_here()
        first = Node("first", store, lambda: Agent(Slow([Hang()]), voice=ScriptedVoice()))
        await first.open()
        page = Page()
        served = await first.begin(page)
        served.conversation.type("is anybody there")
        await asyncio.sleep(1.0)
        first.die()
        second = Node("second", store, lambda: Agent(Slow(), voice=ScriptedVoice()))
        await second.open()
        back = Page()
        again = await second.reconnect(back, hello_of(page))
        assert again is not None
        await asyncio.sleep(2.0)
        again.do(ClientMessage("end", {}))
        await asyncio.sleep(3.0)
        assert len(back.of("ended")) == 1
        assert [told["code"] for told in back.of("notification") if told["code"] == "lost"] == ["lost"]
        assert second.conversations.served == {}
        await second.leases.close()

    run_simulated(scene())


@pytest.mark.req("M-18", "L-14")
def test_a_conversation_that_cannot_resume_reports_its_words_as_lost_and_is_not_counted() -> None:
    async def scene() -> None:
        store = store_here()
        first = Node("first", store, lambda: Agent(Changed([Hang()]), voice=ScriptedVoice()))
        await first.open()
        page = Page()
        served = await first.begin(page)
        served.conversation.type("is anybody there")
        await asyncio.sleep(1.0)
        first.die()
        second = Node("second", store, lambda: Agent(Changed(), voice=ScriptedVoice()))
        await second.open()
        back = Page()
        assert await second.reconnect(back, hello_of(page)) is not None
        await asyncio.sleep(2.0)
        assert [told["code"] for told in back.of("error")] == ["start_refused"]
        assert [told["message"] for told in back.of("notification") if told["code"] == "lost"] == [
            "This got no answer: “is anybody there”"
        ]
        assert [told["reason"] for told in back.of("ended")] == ["it could not start"]
        assert second.conversations.served == {}
        assert "duologue_conversations_active 0" in second.conversations.tally.text()
        await second.leases.close()

    run_simulated(scene())


def test_events_are_read_by_number_and_only_if_all_are_there() -> None:
    events = [record.event for record in steps_of_a_call(agent_that_answers())]
    lines = [json.dumps({"n": number, "event": event_to_json(event)}) for number, event in enumerate(events, 1)]
    assert read_events(lines, len(lines)) == tuple(events)
    assert read_events([*lines, lines[3]], len(lines)) == tuple(events), "a line that was written twice"
    assert read_events(lines, len(lines) - 1) == tuple(events[:-1]), "a line that is newer than the state"
    assert read_events(lines[1:], len(lines)) == ()
    assert read_events([*lines[:-1], "{"], len(lines)) == ()


@pytest.mark.parametrize(
    ("hello", "heard_ms"),
    [
        ({}, None),
        ({"played": {"voice": 3, "ms": 200}}, 200),
        ({"played": {"voice": 3, "ms": 200}, RECEIVED_MS: 0}, 950),
        ({"played": {"voice": 3, "ms": 0}, RECEIVED_MS: 0}, 0),  # it may not have begun
        ({"played": {"voice": 3, "ms": 200}, RECEIVED_MS: 10_000}, 200),
    ],
)
def test_a_client_plays_on_while_it_waits_for_the_answer_to_its_hello(
    hello: dict[str, Any], heard_ms: int | None
) -> None:
    async def scene() -> None:
        began_ms = round(asyncio.get_running_loop().time() * 1000)
        given = {**hello, RECEIVED_MS: hello[RECEIVED_MS] + began_ms} if RECEIVED_MS in hello else hello
        await asyncio.sleep(0.75)
        played = played_by_now(given)
        assert (played and played.heard_ms) == heard_ms

    run_simulated(scene())
