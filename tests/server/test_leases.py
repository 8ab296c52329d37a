"""Leases of one node: claimed, renewed, lost, and what may still be done without one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.ports.store import Fenced, Lease, StoreFailed
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
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


# -- Races between the store's answers and what happens meanwhile


class PausedStore(AwayStore):
    """Calls whose name is in `paused` wait there until `go_on`."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(lambda: round(loop.time() * 1000))
        self.paused: set[str] = set()
        self.go_on = asyncio.Event()

    async def _pause(self, name: str) -> None:
        if name in self.paused:
            await self.go_on.wait()

    async def claim(self, *given: Any, **more: Any) -> Any:
        done = await super().claim(*given, **more)
        await self._pause("claim")
        return done

    async def renew(self, *given: Any) -> Any:
        await self._pause("renew")
        return await super().renew(*given)

    async def release(self, lease: Lease) -> None:
        await super().release(lease)
        await self._pause("release")

    async def journal(self, conversation: str) -> Any:
        await self._pause("journal")
        return await super().journal(conversation)


def test_a_conversation_that_ends_while_it_is_claimed_again_is_not_held():
    async def scene() -> None:
        store = PausedStore()
        a, page = Node("a", store, make), Page()
        await a.open()
        store.is_away = True
        served = await a.begin(page)
        store.is_away = False
        store.paused.add("claim")
        await asyncio.sleep(TTL_MS / 3000)  # the heartbeat claims it again
        served.do(ClientMessage("end", {}))
        await asyncio.sleep(1)
        assert len(page.of("ended")) == 1
        store.go_on.set()
        await asyncio.sleep(1)
        assert a.leases.held == ()
        assert not a.conversations.served
        (held,) = await store.holdings(5)
        assert (held.is_over, held.node) == (True, "")

    run_simulated(scene())


def test_a_client_that_ends_is_told_so_even_if_a_renewal_finds_the_lease_released():
    async def scene() -> None:
        store = PausedStore()
        a, page = Node("a", store, make), Page()
        await a.open()
        served = await a.begin(page)
        store.paused.add("release")
        served.do(ClientMessage("end", {}))
        await asyncio.sleep(TTL_MS / 3000 + 0.1)  # the lease is released, and the next renewal is refused
        assert not page.of("ended")
        store.go_on.set()
        await asyncio.sleep(0.1)
        assert len(page.of("ended")) == 1
        assert page.close_code is None

    run_simulated(scene())


def test_a_slow_take_over_keeps_no_lease_from_being_renewed():
    async def scene() -> None:
        store = PausedStore()
        await mid_sentence(store)
        b, page = Node("b", store, make), Page()
        await b.open()
        mine = await b.begin(page, "another seat")
        store.paused.add("journal")
        await asyncio.sleep(4 * TTL_MS / 1000)
        held = {one.conversation: one for one in await store.holdings(5)}
        assert held[mine.id].expires_ms > 0
        store.go_on.set()
        await asyncio.sleep(1)
        assert len(b.conversations.served) == 2

    run_simulated(scene())


def test_a_renewal_that_hangs_is_tried_again_in_time():
    async def scene() -> None:
        store = PausedStore()
        a, page = Node("a", store, make), Page()
        await a.open()
        served = await a.begin(page)
        store.paused.add("renew")
        await asyncio.sleep(TTL_MS / 1000 * 0.5)
        store.paused.clear()
        await asyncio.sleep(TTL_MS / 1000 * 3)
        (held,) = await store.holdings(5)
        assert held.expires_ms > 0
        assert not served.is_elsewhere

    run_simulated(scene())


def test_a_node_that_is_stopping_gives_back_what_it_is_just_taking_over():
    async def scene() -> None:
        store = PausedStore()
        _, page, _ = await mid_sentence(store)
        b = Node("b", store, make)
        await b.open()
        store.paused.add("journal")
        asking = asyncio.ensure_future(b.reconnect(Page(), hello_of(page)))
        await asyncio.sleep(0.1)
        await b.conversations.drain()
        with pytest.raises(StoreFailed):
            await asking
        with pytest.raises(StoreFailed, match="stopping"):
            await b.reconnect(Page(), hello_of(page))
        store.go_on.set()
        await b.leases.close()
        (held,) = await store.holdings(5)
        assert (held.node, held.is_over) == ("", False)
        assert not b.conversations.served

    run_simulated(scene())


def test_a_client_is_told_to_connect_again_if_the_agent_can_not_be_made():
    async def scene() -> None:
        store = store_here()
        _, page, _ = await mid_sentence(store)
        agents = [make()]

        def one_agent() -> Agent:
            return agents.pop()

        b = Node("b", store, one_agent)
        await b.open()
        with pytest.raises(StoreFailed):
            await b.reconnect(Page(), hello_of(page))
        agents.append(make())
        assert await b.reconnect(Page(), hello_of(page)) is not None

    run_simulated(scene())


def test_a_client_with_another_key_waits_for_its_turn():
    async def scene() -> None:
        store = PausedStore()
        _, page, _ = await mid_sentence(store)
        b = Node("b", store, make)
        await b.open()
        store.paused.add("claim")
        first = asyncio.ensure_future(b.reconnect(Page(), hello_of(page)))
        await asyncio.sleep(0.1)
        with pytest.raises(StoreFailed):
            await b.reconnect(Page(), hello_of(page) | {"key": "wrong"})
        store.go_on.set()
        assert await first is not None

    run_simulated(scene())


def test_a_client_without_the_key_does_not_get_what_is_being_taken_over():
    """It joins the node's own take-over, which needs no key."""

    async def scene() -> None:
        store = PausedStore()
        _, page, _ = await mid_sentence(store)
        b = Node("b", store, make)
        await b.open()
        store.paused.add("journal")
        await asyncio.sleep(2 * TTL_MS / 1000)  # b takes it over by itself
        stranger = asyncio.ensure_future(b.reconnect(Page(), hello_of(page) | {"key": "wrong", "seat": "stranger"}))
        await asyncio.sleep(0.1)
        store.go_on.set()
        assert await stranger is None
        (served,) = b.conversations.served.values()
        assert served.seat == "", "the store doesn't know it"
        assert served.client is None
        assert await b.reconnect(Page(), hello_of(page)) is served

    run_simulated(scene())


def test_a_lapsed_lease_is_logged_and_counts_again_when_it_is_renewed(caplog: pytest.LogCaptureFixture):
    async def scene() -> None:
        store = store_here()
        a, page = Node("a", store, make), Page()
        await a.open()
        served = await a.begin(page)

        async def fail(*given: Any) -> None:
            raise StoreFailed("away")

        store.renew, before = fail, store.renew  # type: ignore[method-assign, assignment]
        await asyncio.sleep(2 * TTL_MS / 1000)
        assert caplog.text.count("its lease ended before it could be renewed") == 1
        assert not served.is_elsewhere, "it continues"
        store.renew = before  # type: ignore[method-assign]
        await asyncio.sleep(TTL_MS / 1000)
        (held,) = await store.holdings(5)
        assert held.expires_ms > 0
        assert a.leases.held == (served.id,)

    run_simulated(scene())


def test_a_node_forgets_conversations_that_it_only_looked_for():
    async def scene() -> None:
        a = Node("a", store_here(), make)
        await a.open()
        for number in range(50):
            assert await a.reconnect(Page(), {"seat": "s", "conversation": f"{number:032x}", "key": "k"}) is None
        assert a.leases.known == 0

    run_simulated(scene())
