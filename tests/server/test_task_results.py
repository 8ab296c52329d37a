"""The results of tasks: noted once, shown to a client that reconnects, and kept by a node that takes over."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from duologue.ports.brain import Form, FormSlot
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.task_results import RESULTS_MAX, TaskResults, read_results
from duologue.testing import ScriptedBrain
from tests.server.moving_nodes import Node, Page, hello_of, store_here

ASKED = FormSlot("origin", "origin", "Boston", "confirmed")
BOOKED = Form("book", "book a flight", "completed", None, (ASKED, FormSlot("ref", "booking ref", "BK1234", "result")))
NEXT = Form("look_up", "look up a flight", "waiting_for_slot", "day", (FormSlot("day", "day", "", "asked"),))
SHOWN = {"turn": 1, "title": "book a flight", "slots": [{"label": "booking ref", "value": "BK1234"}]}


class FormBrain(ScriptedBrain):
    """Shows a form for each request: the first is completed, the others are open."""

    def form(self, conversation: str) -> Form | None:
        return None if not self.requests else BOOKED if len(self.requests) == 1 else NEXT


def booking_agent() -> Agent:
    return Agent(FormBrain(["It is booked.", "On which day?"]), voice=None)


def test_the_results_of_a_completed_form_are_noted_once() -> None:
    results = TaskResults()
    assert results.message() is None
    assert results.note(BOOKED, 1)
    assert not results.note(BOOKED, 2)
    assert not results.note(NEXT, 3)
    assert not results.note(None, 3)
    assert not results.note(BOOKED, 4)
    assert results.dump() == [SHOWN]


def test_a_form_without_a_result_has_nothing_to_note() -> None:
    assert not TaskResults().note(replace(BOOKED, slots=(ASKED,)), 1)
    assert not TaskResults().note(replace(BOOKED, state="confirming"), 1)


def test_another_result_of_the_same_task_is_noted() -> None:
    results = TaskResults()
    results.note(BOOKED, 1)
    again = replace(BOOKED, slots=(FormSlot("ref", "booking ref", "BK9", "result"),))
    assert results.note(again, 5)
    assert [result["turn"] for result in results.dump()] == [1, 5]


def test_only_the_newest_results_are_kept() -> None:
    results = TaskResults()
    for number in range(RESULTS_MAX + 3):
        results.note(replace(BOOKED, slots=(FormSlot("ref", "ref", str(number), "result"),)), number)
    assert [result["turn"] for result in results.dump()] == list(range(3, RESULTS_MAX + 3))


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "BK1234",
        [None],
        [{"turn": 1}],
        [{**SHOWN, "turn": "1"}],
        [{**SHOWN, "slots": [{"label": "ref"}]}],
        [{**SHOWN, "slots": [{"label": "ref", "value": 4}]}],
    ],
)
def test_damaged_results_are_refused(stored: Any) -> None:
    with pytest.raises(ValueError, match="result"):
        read_results(stored)


def test_a_result_stays_when_the_next_task_begins_and_after_a_reconnect() -> None:
    async def scene() -> None:
        node, page = Node("a", store_here(), booking_agent), Page()
        await node.open()
        served = await node.begin(page)
        served.conversation.type("book it")
        await asyncio.sleep(1)
        assert page.of("results") == [{"results": [SHOWN]}]
        served.conversation.type("is it on time?")
        await asyncio.sleep(1)
        assert page.of("dialogue")[-1]["flow"] == "look_up"
        assert len(page.of("results")) == 1
        back = Page()
        assert await node.reconnect(back, hello_of(page)) is served
        assert back.of("results") == [{"results": [SHOWN]}]

    run_simulated(scene())


def test_a_node_that_takes_over_knows_the_results() -> None:
    async def scene() -> None:
        store = store_here()
        a, page = Node("a", store, booking_agent), Page()
        await a.open()
        served = await a.begin(page)
        served.conversation.type("book it")
        await asyncio.sleep(1)
        a.die()
        b, back = Node("b", store, booking_agent), Page()
        await b.open()
        assert await b.reconnect(back, hello_of(page)) is not None
        assert back.of("results") == [{"results": [SHOWN]}]

    run_simulated(scene())
