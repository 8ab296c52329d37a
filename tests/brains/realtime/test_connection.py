"""One connection: unknown events, silence, and its loss."""

from __future__ import annotations

import asyncio

import pytest

from duologue import RealtimeModel
from duologue.core.leaves import Link
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import Closed, Healed, Wobbled
from duologue.testing.realtime.server import RealtimeServer
from tests.brains.realtime_call import RealtimeCall, ask, converse, links
from tests.limits import WAIT_S


def test_events_from_the_future_and_nonsense_change_nothing() -> None:
    async def act(call: RealtimeCall) -> None:
        session = call.server.session
        await session.send_raw({"type": "response.telepathy.delta", "event_id": "x1"})
        await session.send_raw({"type": "response.created", "event_id": "x2"})
        await session.send_raw({"no": "type"})
        await session.send_error("response_cancel_not_active", "")
        await session.send_error("something_new", "an_event_that_we_never_sent")
        await ask(call)

    call = converse(act)
    assert call.heard == ["I see."]
    assert call.model.counts == {"unknown": 1, "unreadable": 2, "refused": 2}
    assert links(call) == [Link.PREPARING, Link.UP]


@pytest.mark.req("C-AC-008")
def test_a_server_that_dies_silently_is_noticed_by_the_request() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.go_silent()
        call.conversation.type("hello")
        await call.until(lambda: call.heard)

    call = converse(act, settings={"request_ms_max": 300})
    assert call.heard == ["I see."]
    assert len(call.server.sessions) == 2
    assert call.model.counts["silent_deaths"] == 1


@pytest.mark.req("L-15")
def test_a_wobble_that_heals_costs_nothing() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.go_silent()
        await call.until(lambda: call.conversation.machine_state.link is Link.HEALING)
        call.server.session.come_back()
        await call.until(lambda: call.conversation.machine_state.link is Link.UP)
        await ask(call)

    call = converse(act, settings={"ping_ms": 50, "pong_ms_max": 150})
    assert links(call)[:4] == [Link.PREPARING, Link.UP, Link.HEALING, Link.UP]
    assert len(call.server.sessions) == 1


@pytest.mark.req("L-15")
def test_a_wobble_that_does_not_heal_leads_to_a_new_session() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.go_silent()
        await call.until(lambda: len(call.server.sessions) == 2)
        await ask(call)

    call = converse(act, settings={"ping_ms": 50, "pong_ms_max": 100}, machine={"heal_ms_max": 300})
    assert Link.HEALING in links(call)
    assert call.heard == ["I see."]


def test_a_closed_session_reports_nothing_any_more() -> None:
    async def run() -> list[Wobbled | Healed | Closed]:
        reported: list[Wobbled | Healed | Closed] = []
        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url)
            await model.open(None, reported.append)
            await model.close()
            server.session.hang_up()
            await model.open(None, reported.append)
            server.session.hang_up()
            async with asyncio.timeout(WAIT_S):
                while not reported:
                    await asyncio.sleep(0.005)
            await model.close()
        return reported

    assert run_jumping(run()) == [Closed()]


def test_a_session_that_was_lost_leaves_nothing_running() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.go_silent()
        call.conversation.type("hello")
        await call.until(lambda: call.heard)
        await call.rests()
        names = [task.get_name() for task in asyncio.all_tasks()]
        assert names.count("realtime reader") == 1
        assert "realtime retiring" not in names

    converse(act, settings={"request_ms_max": 200})
