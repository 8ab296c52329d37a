"""Calls to the store about a lease: each ends in one input, whatever the store does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.ports.store import Damaged, StoredConversation, StoreFailed, StoreWrite
from duologue.runtime.checkpoint import NotRestorable
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.server.conversation_keys import hash_key
from duologue.server.known_conversation import KnownConversation
from duologue.server.lease_calls import CALL_S_MAX, CLIENT_PART, LeaseCalls
from duologue.server.ownership import inputs as on
from tests.server.moving_nodes import Node, Page, hello_of, make, store_here

KEY = "the key"


async def stored(agent: str = "", is_over: bool = False) -> Any:
    """A store with the conversation "c" of another node."""
    store = store_here()
    lease, _ = await store.claim("c", "other", 5_000, key_hash=hash_key(KEY))
    await store.write(lease, 0, StoreWrite({CLIENT_PART: {"agent": agent}}, is_over=is_over))
    return store


def known(key: str = KEY) -> KnownConversation:
    return KnownConversation("c", hello={"key": key})


def test_an_orphan_is_granted_only_after_its_lease() -> None:
    async def scene() -> None:
        calls, one = LeaseCalls(await stored(), "me", 1_000), known()
        assert await calls.claim_orphan(one) == on.LeaseRefused()
        await asyncio.sleep(6)
        granted = await calls.claim_orphan(one)
        assert isinstance(granted, on.LeaseGranted)
        assert granted.epoch == one.lease.epoch
        assert one.proven is None, "no client has shown its key"

    run_simulated(scene())


def test_a_client_with_its_key_moves_the_conversation_and_one_without_does_not() -> None:
    async def scene() -> None:
        calls = LeaseCalls(await stored(), "me", 1_000)
        assert await calls.claim_for_client(known("wrong")) == on.LeaseRefused()
        one = known()
        assert isinstance(await calls.claim_for_client(one), on.LeaseGranted)
        assert one.proven == {"key": KEY}

    run_simulated(scene())


@pytest.mark.parametrize(
    ("agent", "is_over", "outcome"),
    [("", True, on.NothingStored()), ("another", False, on.StoredForAnother())],
)
def test_what_is_over_or_of_another_agent_is_not_claimed(agent: str, is_over: bool, outcome: Any) -> None:
    async def scene() -> None:
        store = await stored(agent, is_over)
        assert await LeaseCalls(store, "me", 1_000).claim_for_client(known()) == outcome
        assert [held.node for held in await store.holdings(5)] == ["other"]

    run_simulated(scene())


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (Damaged("the row is damaged"), on.StoredDamaged()),
        (StoreFailed("away"), on.StoreUnreachable()),
        (RuntimeError("a bug"), on.StoreUnreachable()),
        (None, on.StoreUnreachable()),
    ],
    ids=["damaged", "away", "bug", "hangs"],
)
def test_a_store_that_fails_or_hangs_is_an_outcome(failure: Exception | None, outcome: Any) -> None:
    async def scene() -> None:
        store = await stored()

        async def read(conversation: str) -> None:
            if failure is not None:
                raise failure
            await asyncio.sleep(10 * CALL_S_MAX)

        store.read = read
        one = known()
        assert await LeaseCalls(store, "me", 1_000).claim_orphan(one) == outcome
        assert one.problem is not None

    run_simulated(scene())


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (NotRestorable("of another version"), on.ConversationUnusable()),
        (StoreFailed("away"), on.RestoreFailed()),
        (KeyError("an agent's own code"), on.RestoreFailed()),
        (None, on.RestoreFailed()),
    ],
    ids=["unusable", "away", "agent", "hangs"],
)
def test_a_rebuild_that_fails_or_hangs_is_an_outcome(failure: Exception | None, outcome: Any) -> None:
    class Failing:
        async def rebuild(self, stored: StoredConversation, hello: Any) -> Any:
            if failure is not None:
                raise failure
            await asyncio.sleep(10 * CALL_S_MAX)

        def take_in(self, served: Any) -> None: ...

    async def scene() -> None:
        calls, one = LeaseCalls(await stored(), "me", 1_000), known()
        await calls.claim_for_client(one)
        assert await calls.restore(one, Failing()) == outcome

    run_simulated(scene())


def test_marking_as_over_leaves_the_data_as_it_is_and_releases_the_lease() -> None:
    async def scene() -> None:
        store = await stored()
        calls, one = LeaseCalls(store, "me", 1_000), known()
        await calls.claim_for_client(one)
        await calls.mark_over(one, one.lease, one.stored.revision)
        kept = await store.read("c")
        assert kept.is_over
        assert kept.parts == {CLIENT_PART: {"agent": ""}}
        (held,) = await store.holdings(5)
        assert held.node == ""

    run_simulated(scene())


def test_a_release_that_fails_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        store = await stored()
        calls, one = LeaseCalls(store, "me", 1_000), known()
        await calls.claim_for_client(one)

        async def release(lease: Any) -> None:
            raise StoreFailed("conversation 'c' is away")

        store.release = release
        await calls.release(one, one.lease)

    run_simulated(scene())
    assert "its lease can't be released" in caplog.text


# -- Keys


def test_a_new_key_is_known_to_the_node_that_takes_over_and_the_old_one_opens_nothing_there() -> None:
    async def scene() -> None:
        store = store_here()
        a, first, second = Node("a", store, make), Page(), Page()
        await a.open()
        await a.begin(first)
        old = hello_of(first)
        served = await a.reconnect(second, old)
        assert served is not None
        await asyncio.sleep(0.2)
        new = old | {"key": second.of("key")[0]["key"]}
        served.do(ClientMessage("key", {"key": new["key"]}))
        await asyncio.sleep(0.2)
        a.die()
        b = Node("b", store, make)
        await b.open()
        assert await b.reconnect(Page(), old) is None
        assert await b.reconnect(Page(), new) is not None

    run_simulated(scene())


def test_a_key_that_was_not_acknowledged_leaves_the_old_one_valid_on_another_node() -> None:
    async def scene() -> None:
        store = store_here()
        a, first, second = Node("a", store, make), Page(), Page()
        await a.open()
        await a.begin(first)
        await a.reconnect(second, hello_of(first))
        await asyncio.sleep(0.2)
        a.die()
        b = Node("b", store, make)
        await b.open()
        assert await b.reconnect(Page(), hello_of(first)) is not None

    run_simulated(scene())


@pytest.mark.req("C-SEC-003")
def test_the_store_keeps_neither_the_seat_nor_a_key_of_a_client() -> None:
    async def scene() -> None:
        store = store_here()
        a, first, second = Node("a", store, make), Page(), Page()
        await a.open()
        served = await a.begin(first, seat="alice-at-home")
        await a.reconnect(second, hello_of(first, seat="alice-at-home"))
        await asyncio.sleep(0.2)
        stored = await store.read(served.id)
        assert stored is not None
        secrets = ("alice-at-home", hello_of(first)["key"], second.of("key")[0]["key"])
        assert stored.parts[CLIENT_PART]["keys"]
        assert [one for one in secrets if one in str(stored)] == []

    run_simulated(scene())
