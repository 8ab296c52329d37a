"""Conversations that move between nodes: a client reconnects elsewhere, or a lease expires."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duologue.observe import signals as sg
from duologue.ports.history import AgentSaid
from duologue.runtime import wall_time
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedBrain
from tests.server.moving_nodes import (
    ANSWER,
    BRAINS,
    TTL_MS,
    Node,
    Page,
    asked,
    hello_of,
    make,
    mid_sentence,
    store_here,
    taken_over,
)


@pytest.fixture(autouse=True)
def no_brains() -> None:
    BRAINS.clear()


@pytest.mark.req("D-14")
def test_a_node_that_takes_over_repeats_nothing_that_the_client_has_heard():
    async def scene() -> None:
        store = store_here()
        _, page, voice = await mid_sentence(store)
        b = await taken_over(store)
        assert asked() == 1
        back = Page()
        served = await b.reconnect(back, hello_of(page, played={"voice": voice, "ms": 900, "chunk": 9}))
        assert served is not None
        await asyncio.sleep(3)
        assert asked() == 1, "it was heard, and is not asked for again"
        (said,) = [item for item in served.conversation.history if isinstance(item, AgentSaid)]
        assert said.text
        assert said.text in ANSWER

    run_simulated(scene())


@pytest.mark.req("C-API.since")
def test_the_times_that_a_node_tells_after_it_has_taken_over_are_those_of_the_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def day() -> datetime:
        return datetime(2026, 3, 4, 12, 0, tzinfo=UTC) + timedelta(seconds=asyncio.get_running_loop().time())

    monkeypatch.setattr(wall_time, "utc_now", day)

    async def scene() -> None:
        store = store_here()
        _, page, voice = await mid_sentence(store)
        b = await taken_over(store)
        await asyncio.sleep(40)
        reconnected_at, back = day(), Page()
        assert await b.reconnect(back, hello_of(page, played={"voice": voice, "ms": 900, "chunk": 9})) is not None
        await asyncio.sleep(3)
        (listens,) = [told for told in back.of("state") if told["state"] == "listening"]
        assert reconnected_at <= datetime.fromisoformat(listens["since"]) <= day()

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_an_unfinished_answer_stays_stored_while_a_node_waits_for_the_client():
    async def scene() -> None:
        store = store_here()
        _, page, _ = await mid_sentence(store)
        await taken_over(store)
        kept = await store.read(hello_of(page)["conversation"])
        assert kept is not None
        assert kept.parts["words"]["speech"] is not None

    run_simulated(scene())


def test_a_restored_conversation_ends_if_the_client_never_reconnects():
    async def scene() -> None:
        store = store_here()
        await mid_sentence(store)
        b = await taken_over(store)
        await asyncio.sleep(300)
        assert not b.conversations.served

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_a_conversation_that_was_taken_over_can_move_again_with_its_key():
    async def scene() -> None:
        store = store_here()
        _, page, _ = await mid_sentence(store)
        b = await taken_over(store)
        first = Page()
        assert await b.reconnect(first, hello_of(page)) is not None
        assert first.of("conversation")[-1]["key"] == page.of("conversation")[-1]["key"]
        c, second = Node("c", store, make), Page()
        await c.open()
        assert await c.reconnect(second, hello_of(first)) is not None

    run_simulated(scene())


def test_a_node_that_has_not_noticed_that_a_conversation_moved_accepts_the_newer_key():
    """The client was at another node for a moment, and has the key of that node."""

    async def scene() -> None:
        store, page = store_here(), Page()
        a, b = Node("a", store, make), Node("b", store, make)
        await a.open()
        await b.open()
        first = await a.begin(page)
        assert await b.reconnect(page, hello_of(page)) is not None
        await asyncio.sleep(0.1)
        newer = page.of("key")[-1]["key"]
        b.conversations.served[first.id].do(ClientMessage("key", {"key": newer}))
        assert not first.is_elsewhere  # a has not renewed its leases since
        assert await a.reconnect(page, hello_of(page, key="wrong " + newer)) is None
        assert await b.reconnect(page, hello_of(page, key=newer)) is not None
        back = await a.reconnect(page, hello_of(page, key=newer))
        assert back is not None
        assert back is not first
        await asyncio.sleep(1)
        assert not back.is_elsewhere

    run_simulated(scene())


def test_a_key_is_sent_to_the_client_to_which_it_was_offered_and_to_no_other():
    async def scene() -> None:
        store, page, gone = store_here(), Page(), Page()
        a = Node("a", store, make)
        await a.open()
        served = await a.begin(page)
        hello = hello_of(page)
        assert await a.reconnect(gone, hello) is served  # a socket that its client has given up
        assert await a.reconnect(page, hello) is served
        await asyncio.sleep(0.5)
        assert gone.of("key") == []
        (offered,) = page.of("key")
        served.do(ClientMessage("key", offered))
        assert served.is_key(offered["key"])
        assert page.of("error") == []

    run_simulated(scene())


def test_two_sockets_that_reconnect_at_once_get_the_same_conversation():
    async def scene() -> None:
        store = store_here()
        _, page, _ = await mid_sentence(store)
        b = Node("b", store, make)
        await b.open()
        both = await asyncio.gather(*(b.reconnect(Page(), hello_of(page)) for _ in range(2)))
        assert both[0] is both[1]
        await asyncio.sleep(TTL_MS / 1000)
        assert both[0] is not None
        assert not both[0].is_elsewhere

    run_simulated(scene())


def test_commands_sent_before_a_conversation_resumes_are_performed_then():
    async def scene() -> None:
        store = store_here()
        _, page, voice = await mid_sentence(store)
        b, back = Node("b", store, make), Page()
        await b.open()
        served = await b.reconnect(back, hello_of(page, played={"voice": voice, "ms": 900, "chunk": 9}))
        assert served is not None
        served.do(ClientMessage("type", {"text": "and now?", "id": "2"}))
        await asyncio.sleep(1)
        assert not served.conversation.engine.failures
        assert [told["id"] for told in back.of("typed")] == ["2"]
        assert BRAINS[-1].requests[-1].text == "and now?"

    run_simulated(scene())


def test_a_lost_turn_that_no_client_was_notified_of_is_reported_by_the_next_node():
    async def scene() -> None:
        store = store_here()
        a, page = Node("a", store, lambda: Agent(ScriptedBrain([["Well", "", ""]]), voice=None)), Page()
        await a.open()
        served = await a.begin(page)
        served.leave(page)  # type: ignore[arg-type]
        served.conversation.engine.bus.send(sg.Lost(0, 1, 1, ("hello?",)))
        await asyncio.sleep(0.2)
        a.die()
        b, back = Node("b", store, make), Page()
        await b.open()
        assert await b.reconnect(back, hello_of(page)) is not None
        lost = [told["message"] for told in back.of("notification") if told["code"] == "lost"]
        assert lost == ["This got no answer: “hello?”"]

    run_simulated(scene())


@pytest.mark.req("L-14")
@pytest.mark.parametrize("heard_ms", [0, 2_000])
@pytest.mark.parametrize("gone_s", [2.2, 3.0, 3.5, 10.0])  # 3: back just when it is tried again
def test_an_answer_that_played_on_during_a_lost_connection_is_not_asked_for_again(heard_ms, gone_s):
    """The line is gone for longer than the machine waits for it; the page has played what it had."""

    async def scene() -> None:
        a, page = Node("a", store_here(), make), Page()
        await a.open()
        served = await a.begin(page)
        served.do(ClientMessage("type", {"text": "what is it?", "id": "1"}))
        await asyncio.sleep(0.5)
        voice = max(page.sounds)
        served.leave(page)  # type: ignore[arg-type]
        await asyncio.sleep(gone_s)
        back = Page()
        assert await a.reconnect(back, hello_of(page, played={"voice": voice, "ms": heard_ms, "chunk": 10})) is served
        await asyncio.sleep(3)
        assert asked() == (1 if heard_ms else 2)
        speech = served.conversation.engine.playback.speech
        assert speech is not None
        assert speech.ledger.text == ANSWER, "its only sentence was cut, and is said again from its beginning"

    run_simulated(scene())


def test_a_client_that_reconnects_sees_which_turns_got_no_answer():
    async def scene() -> None:
        store = store_here()
        _, page, _ = await mid_sentence(store)
        b, back = Node("b", store, make), Page()
        await b.open()
        served = await b.reconnect(back, hello_of(page))
        assert served is not None
        served.conversation.engine.bus.send(sg.Lost(0, 1, 1))
        await asyncio.sleep(0.2)
        b.die()
        c, again = Node("c", store, make), Page()
        await c.open()
        assert await c.reconnect(again, hello_of(back)) is not None
        assert [item["lost"] for item in again.of("history")[-1]["items"] if item["role"] == "user"] == [True]

    run_simulated(scene())


@pytest.mark.req("D-14")
def test_a_node_that_hands_over_plays_nothing_that_the_next_node_does_not_know():
    """The node is stopped just before an answer is heard."""

    async def scene() -> None:
        store = SlowStore(lambda: round(asyncio.get_running_loop().time() * 1000))
        a, page = Node("a", store, make), Page()
        await a.open()
        served = await a.begin(page)
        store.takes_s = 0.3
        served.do(ClientMessage("type", {"text": "what is it?", "id": "1"}))
        await asyncio.sleep(0.1)
        handing = asyncio.ensure_future(served.hand_over())
        await asyncio.sleep(0.1)
        served.do(ClientMessage("type", {"text": "and this?", "id": "2"}))
        await handing
        assert not page.sounds
        assert not page.of("typed") or page.of("typed") == [{"id": "1"}]

    run_simulated(scene())


class SlowStore(MemoryStore):
    """Takes its time to write."""

    takes_s = 0.0

    async def write(self, *given: Any) -> int:
        await asyncio.sleep(self.takes_s)
        return await super().write(*given)


def test_a_node_that_took_over_reuses_no_voice_number_that_the_client_knows():
    async def scene() -> None:
        store = store_here()
        a, page = Node("a", store, make), Page()
        await a.open()
        await a.begin(page)
        a.die()
        b = await taken_over(store)
        back = Page()
        served = await b.reconnect(back, hello_of(page, played={"voice": 7, "ms": 500, "chunk": 5}))
        assert served is not None
        served.do(ClientMessage("type", {"text": "what is it?", "id": "1"}))
        await asyncio.sleep(1)
        assert min(back.sounds) > 7

    run_simulated(scene())


@pytest.mark.req("D-14", "L-14")
def test_an_answer_that_played_on_during_a_lost_connection_is_not_asked_for_by_another_node():
    """The first node has given the line up before its client comes to the second."""

    async def scene() -> None:
        store = store_here()
        a, page = Node("a", store, make), Page()
        await a.open()
        served = await a.begin(page)
        served.do(ClientMessage("type", {"text": "what is it?", "id": "1"}))
        await asyncio.sleep(0.5)
        voice = max(page.sounds)
        served.leave(page)  # type: ignore[arg-type]
        await asyncio.sleep(2.5)
        b, back = Node("b", store, make), Page()
        await b.open()
        there = await b.reconnect(back, hello_of(page, played={"voice": voice, "ms": 2_000, "chunk": 10}))
        assert there is not None
        await asyncio.sleep(3)
        assert asked() == 1
        speech = there.conversation.engine.playback.speech
        assert speech is not None
        assert speech.ledger.text == ANSWER, "its only sentence was cut, and is said again from its beginning"

    run_simulated(scene())
