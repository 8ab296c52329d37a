"""Leases of one node: claimed, renewed, lost, and what may still be done without one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.ports.store import Fenced, StoreFailed
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedBrain, ScriptedVoice
from tests.server.moving_nodes import (
    TTL_MS,
    Node,
    Page,
    hello_of,
    make,
    mid_sentence,
    store_here,
    taken_over,
)


class AwayStore(MemoryStore):
    """A store that is unreachable while `is_away` is set."""

    is_away = False

    async def read(self, conversation: str) -> Any:
        if self.is_away:
            raise StoreFailed("away")
        return await super().read(conversation)

    async def claim(self, *given: Any, **more: Any) -> Any:
        if self.is_away:
            raise StoreFailed("away")
        return await super().claim(*given, **more)


def away_store() -> AwayStore:
    loop = asyncio.get_running_loop()
    return AwayStore(lambda: round(loop.time() * 1000))


def test_a_conversation_survives_a_store_that_is_unreachable():
    async def scene() -> None:
        store = away_store()
        _, page, _ = await mid_sentence(store)
        b = Node("b", store, make)
        await b.open()
        store.is_away = True
        with pytest.raises(StoreFailed):
            await b.reconnect(Page(), hello_of(page))
        store.is_away = False
        assert await b.reconnect(Page(), hello_of(page)) is not None

    run_simulated(scene())


def test_a_conversation_that_could_not_be_claimed_at_its_start_is_saved_later():
    async def scene() -> None:
        store = away_store()
        a, page = Node("a", store, make), Page()
        await a.open()
        store.is_away = True
        served = await a.begin(page)
        assert [told["code"] for told in page.of("notification")] == ["unsaved"]
        store.is_away = False
        await asyncio.sleep(TTL_MS / 1000)
        assert [told["code"] for told in page.of("notification")] == ["unsaved", "saved_again"]
        kept = await store.read(served.id)
        assert kept is not None
        assert set(kept.parts) >= {"machine", "words", "room"}

    run_simulated(scene())


@pytest.mark.req("D-14")
@pytest.mark.graveyard(25)
def test_a_node_that_lost_its_lease_starts_no_action():
    async def scene() -> None:
        store = store_here()
        a, page = Node("a", store, make), Page()
        await a.open()
        served = await a.begin(page)
        b = Node("b", store, make)
        await b.open()
        assert await b.reconnect(Page(), hello_of(page)) is not None
        await asyncio.sleep(TTL_MS / 1000)
        assert served.is_elsewhere
        ran: list[int] = []

        async def work() -> None:
            ran.append(1)

        with pytest.raises(Fenced):
            await a.leases.once(served.id, "key", "pay", work, False)
        assert not ran

    run_simulated(scene())


def test_a_lost_conversation_that_returns_is_not_released_by_its_old_object():
    async def scene() -> None:
        store = store_here()
        a, page = Node("a", store, make), Page()
        await a.open()
        old = await a.begin(page)
        b, there = Node("b", store, make), Page()
        await b.open()
        assert await b.reconnect(there, hello_of(page)) is not None
        await asyncio.sleep(TTL_MS / 3000 + 0.01)  # a notices
        new = await a.reconnect(Page(), hello_of(there))
        await asyncio.sleep(TTL_MS / 1000)
        assert new is not None
        assert new is not old
        assert a.conversations.served[new.id] is new
        assert not new.is_elsewhere
        assert new.id in a.leases.held

    run_simulated(scene())


def test_the_heartbeat_continues_after_a_failure():
    async def scene() -> None:
        store = store_here()
        a, page = Node("a", store, make), Page()
        await a.open()
        served = await a.begin(page)

        async def fail(*given: Any) -> None:
            raise RuntimeError("an agent that can't be made")

        store.orphans, before = fail, store.orphans  # type: ignore[method-assign, assignment]
        await asyncio.sleep(3 * TTL_MS / 1000)
        store.orphans = before  # type: ignore[method-assign]
        (held,) = await store.holdings(5)
        assert held.node == "a"
        assert held.expires_ms > 0
        assert not served.is_elsewhere

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_a_conversation_of_another_agent_in_the_same_store_is_left_alone():
    async def scene() -> None:
        store = store_here()
        await mid_sentence(store)
        other = Node("other", store, lambda: Agent(ScriptedBrain(), voice=ScriptedVoice(), name="somebody else"))
        await other.open()
        await asyncio.sleep(3 * TTL_MS / 1000)
        assert not other.conversations.served
        [held] = await store.holdings(10)
        assert not held.is_over
        await taken_over(store)  # a server of its own agent still can

    run_simulated(scene())
