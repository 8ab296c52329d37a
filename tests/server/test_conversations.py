"""The conversations of a server: seats and keys, reconnecting, limits, stopping."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from duologue import make_ticket
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.conversations import PAST_MAX, Conversations
from duologue.server.leases import Leases
from duologue.server.settings import ServerSettings
from duologue.store.memory import MemoryStore
from tests.limits import TEST_S, WAIT_S
from tests.privacy.planted import TOKEN, Keeping, kept_house
from tests.server.moving_nodes import TTL_MS, Page, make, store_here
from tests.server.noted_siblings import NotedSiblings
from tests.server.running_server import Client, RunningServer, agent_that_says, serve, talk

KEY = "the-key-that-signs-tickets"

LONG = "This is a long answer that goes on and on, " * 6


@pytest.mark.req("C-CON-002")
def test_two_clients_never_get_words_or_sound_of_each_other() -> None:
    async def script(running: RunningServer) -> None:
        pairs = [(await running.connect(), name) for name in ("ananas", "birne", "cassis", "dattel")]
        await asyncio.gather(*(client.begin(name) for client, name in pairs))

        async def go(client: Client, name: str) -> None:
            for turn in range(5):
                assert await talk(client, f"{name} {turn}", after=turn) == f"You said {name} {turn}."

        await asyncio.gather(*(go(client, name) for client, name in pairs))
        for client, name in pairs:
            everything = "".join(str(frame) for frame in client.raw if isinstance(frame, str))
            assert name in everything
            assert not [other for _, other in pairs if other != name and other in everything]
            voices = [voice for voice, _, _ in client.frames]
            assert voices == sorted(voices)
            assert len(set(voices)) == 5

    serve(script)


# -- Seats and keys


def key_of(began: dict[str, Any]) -> dict[str, Any]:
    """What a client sends to enter this conversation."""
    return {"conversation": began["conversation"], "key": began["key"]}


@pytest.mark.req("C-CON-002")
def test_a_second_tab_that_does_not_take_over_is_refused() -> None:
    async def script(running: RunningServer) -> None:
        first, second = await running.connect(), await running.connect()
        began = await first.begin("alice")
        await second.hello("alice", **key_of(began), take_over=False)
        assert (await second.gone())[0] == 4409
        assert second.told("error")[0]["code"] == "seat_taken"
        assert await talk(first, "still here") == "You said still here."

    serve(script)


@pytest.mark.req("C-CON-002")
def test_if_two_tabs_start_at_once_only_one_conversation_starts() -> None:
    async def script(running: RunningServer) -> None:
        first, second = await running.connect(), await running.connect()
        ticket = make_ticket(KEY, user="anna")
        await asyncio.gather(first.hello("alice", token=ticket), second.hello("alice", token=ticket))
        await asyncio.gather(first.expect("ready"), second.expect("ready"))
        await first.send("start")
        await first.until_listening()
        await second.send("start")
        assert (await second.gone())[0] == 4409
        assert len(running.conversations.served) == 1

    serve(script, secrets={"ticket_key": KEY})


def test_a_seat_is_a_name_that_opens_nothing_and_is_not_confirmed() -> None:
    async def script(running: RunningServer) -> None:
        alice = await running.connect()
        began = await alice.begin("alice")
        await talk(alice, "my secret")
        said = []
        for seat, more in (
            ("alice", {}),
            ("alice", {"take_over": True}),
            ("alice", {"take_over": False}),
            ("alice", {"conversation": began["conversation"], "key": "wrong", "take_over": True}),
            ("bob", {}),
        ):
            stranger = await running.connect()
            told = await stranger.begin(seat, **more)
            assert told["conversation"] != began["conversation"]
            assert "my secret" not in str(stranger.messages)
            said.append([one["type"] for one in stranger.messages if one["type"] != "duologue.notice"][:3])
            await stranger.send("end")
            await stranger.expect("ended")
        assert said[0] == said[1] == said[2] == said[4], "a client can't tell which seats exist"
        assert await talk(alice, "still here", after=1) == "You said still here."

    serve(script)


def test_a_client_that_takes_over_gets_a_new_key_and_the_old_one_opens_nothing() -> None:
    async def script(running: RunningServer) -> None:
        first, second = await running.connect(), await running.connect()
        began = await first.begin("alice")
        await second.hello("alice", **key_of(began))
        await second.expect("conversation")
        offered = (await second.expect("key"))["key"]
        (served,) = running.conversations.served.values()
        assert served.is_key(began["key"]), "until the new one is acknowledged"
        await second.send("key", key="not this one")
        await second.expect("error", code="refused")
        assert served.is_key(began["key"])
        await second.send("key", key=offered)
        await running.until(lambda: not served.is_key(began["key"]))
        thief = await running.connect()
        await thief.hello("alice", **key_of(began), take_over=True)
        await thief.expect("ready")
        await thief.send("ping", t=1)
        await thief.expect("pong")
        assert thief.told("conversation") == []
        third = await running.connect()
        await third.hello("alice", conversation=began["conversation"], key=offered)
        assert (await third.expect("conversation"))["resumed"] is True

    serve(script)


def test_a_key_opens_a_conversation_only_for_the_user_of_its_ticket() -> None:
    async def script(running: RunningServer) -> None:
        anna, bob, again = await running.connect(), await running.connect(), await running.connect()
        began = await anna.begin("phone", token=make_ticket(KEY, user="anna"))
        await bob.hello("phone", token=make_ticket(KEY, user="bob"), **key_of(began))
        await bob.expect("ready")
        await bob.send("ping", t=1)
        await bob.expect("pong")
        assert bob.told("conversation") == []
        over = make_ticket(KEY, user="anna", now_s=time.time() - 86_400)
        await again.hello("phone", token=over, **key_of(began))
        assert (await again.expect("conversation"))["resumed"] is True, "a ticket that is over still resumes"
        late = await running.connect()
        await late.hello("phone", token=over)
        assert (await late.gone())[0] == 4401

    serve(script, secrets={"ticket_key": KEY})


def test_a_take_over_moves_the_conversation_and_disconnects_the_other_tab() -> None:
    async def script(running: RunningServer) -> None:
        first, second = await running.connect(), await running.connect()
        began = await first.begin("alice")
        await talk(first, "remember me")
        await second.hello("alice", **key_of(began), take_over=True)
        moved = await second.expect("conversation")
        assert moved["conversation"] == began["conversation"]
        assert moved["resumed"] is True
        assert (await first.gone())[0] == 4410
        items = (await second.expect("history"))["items"]
        assert [item["text"] for item in items] == ["remember me", "You said remember me."]
        assert await talk(second, "and now") == "You said and now."
        assert "and now" not in str(first.messages)

    serve(script)


def test_a_tab_that_was_taken_over_can_send_and_receive_nothing() -> None:
    """It may be slow to leave, or not want to."""

    async def script(running: RunningServer) -> None:
        first = await running.connect(plays=False)
        began = await first.begin("alice")
        served = next(iter(running.conversations.served.values()))
        second = await running.connect()
        await second.hello("alice", **key_of(began), take_over=True)
        first.socket.transport.pause_reading()  # type: ignore[attr-defined]
        await second.expect("conversation")
        for _ in range(20):
            await first.send("type", text="I am not here")
            await first.send("end")
        assert await talk(second, "who is here") == "You said who is here."
        assert "I am not here" not in str(served.conversation.history)
        assert not served.is_over
        first.vanish()

    serve(script)


# -- Reconnecting


@pytest.mark.req("L-14", "L-15")
def test_with_its_key_a_client_reconnects_in_mid_sentence() -> None:
    async def script(running: RunningServer) -> None:
        first = await running.connect(plays=False)
        began = await first.begin("alice")
        await first.send("type", text="tell me")
        await first.until(lambda: len(first.frames) >= 3, "some sound")
        voice = first.frames[0][0]
        await first.send("played", voice=voice, ms=150)
        first.vanish()
        await running.until(lambda: next(iter(running.conversations.served.values())).client is None)
        second = await running.connect()
        second.heard_ms[voice] = 200
        await second.hello(
            "another seat",
            conversation=began["conversation"],
            key=began["key"],
            played={"voice": voice, "ms": 200, "chunk": 2},
        )
        assert (await second.expect("conversation"))["resumed"] is True
        told = await second.expect("caption", role="assistant", final=True)
        assert told["text"] == LONG.strip()
        assert [chunk for _, chunk, _ in second.frames][:2] == [3, 4]
        order = [told["type"] for told in second.messages]
        assert order[:2] == ["duologue.ready", "duologue.conversation"], "nothing overtakes the greeting"

    serve(script, agent_that_says([LONG]))


@pytest.mark.req("D-14", "L-14")
def test_a_client_that_reconnects_while_its_conversation_moves_is_sent_to_the_new_node(tmp_path: Path) -> None:
    # Once: it entered a conversation that was about to move, was greeted, and never heard of anything again.
    async def scene() -> None:
        store = SlowStore()
        async with kept_house(agent_that_says([LONG]), Keeping(tmp_path, store)) as running:
            first = await running.connect()
            began = await first.begin("alice", token=TOKEN)
            first.vanish()
            (served,) = running.conversations.served.values()
            await running.until(lambda: served.client is None)
            store.is_slow.set()
            moving = asyncio.ensure_future(served.hand_over())
            second = await running.connect()
            await second.hello("alice", token=TOKEN, conversation=began["conversation"], key=began["key"])
            assert (await second.gone())[0] == 4503
            assert served.client is None
            store.is_slow.clear()
            store.goes_on.set()
            await moving

    run_jumping(asyncio.wait_for(scene(), TEST_S))


class SlowStore(MemoryStore):
    """Waits before each write while it is slow."""

    def __init__(self) -> None:
        super().__init__()
        self.is_slow = asyncio.Event()
        self.goes_on = asyncio.Event()

    async def write(self, *given: Any) -> int:
        if self.is_slow.is_set():
            await self.goes_on.wait()
        return await super().write(*given)


@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_client_with_a_wrong_key_does_not_get_into_a_conversation(key: str) -> None:
    async def script(running: RunningServer) -> None:
        first, second = await running.connect(), await running.connect()
        began = await first.begin("alice")
        await talk(first, "my secret")
        await second.hello("mallory", conversation=began["conversation"], key=key)
        await second.expect("notification", code="gone")
        assert not second.told("conversation")
        assert "my secret" not in str(second.messages)
        await second.send("type", text="hello?")
        refused = await second.expect("error", code="refused")
        assert "hello?" not in refused["message"]

    serve(script)


def test_a_client_that_reconnects_after_the_end_learns_that_it_has_ended() -> None:
    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        await first.send("end")
        await first.expect("ended")
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        await second.expect("notification", code="gone")

    serve(script)


# -- Limits and stopping


def test_a_full_server_refuses_new_clients_and_keeps_its_conversations() -> None:
    async def script(running: RunningServer) -> None:
        first, second = await running.connect(), await running.connect()
        await first.begin("alice")
        assert (await running.get("/readyz")).status == 503
        await second.hello("bob")
        await second.send("start")
        assert (await second.gone())[0] == 4429
        assert second.told("error")[0]["code"] == "too_many"
        assert await talk(first, "still here") == "You said still here."
        await first.send("end")
        await first.expect("ended")
        assert (await running.get("/readyz")).status == 200

    serve(script, conversations_max=1)


def test_a_stopping_server_lets_conversations_end_and_starts_none() -> None:
    async def script(running: RunningServer) -> None:
        first, second, third = [await running.connect() for _ in range(3)]
        await first.begin("alice")
        await second.begin("bob")
        second.vanish()
        await running.until(lambda: sum(served.client is None for served in running.conversations.served.values()) == 1)
        await third.hello("carol")
        await third.expect("ready")
        draining = asyncio.ensure_future(running.conversations.drain())
        await first.expect("notification", code="stopping")
        assert (await running.get("/readyz")).status == 503
        assert (await running.get("/healthz")).status == 200
        await running.until(lambda: len(running.conversations.served) == 1)
        await third.send("start")
        assert (await third.gone())[0] == 4503
        assert await talk(first, "let me finish") == "You said let me finish."
        await first.send("end")
        await first.expect("ended")
        await asyncio.wait_for(draining, WAIT_S)
        assert (await first.gone())[0] == 4503

    serve(script, drain_s_max=30)


def test_a_stopping_server_does_not_wait_forever() -> None:
    async def script(running: RunningServer) -> None:
        clients = [await running.connect() for _ in range(5)]
        await asyncio.gather(*(client.begin(f"seat {at}") for at, client in enumerate(clients)))
        await asyncio.wait_for(running.conversations.drain(), WAIT_S)
        for client in clients:
            assert client.told("ended") or await client.gone()
            assert (await client.gone())[0] in (4503, 1012)
        assert not running.conversations.served

    serve(script, drain_s_max=0.1)


# -- Other processes of the same server


def test_other_processes_learn_where_conversations_are_until_their_journals_are_gone() -> None:
    async def run() -> None:
        siblings, page = NotedSiblings(), Page()
        conversations = Conversations(make, ServerSettings(), siblings=siblings)
        ids = []
        for number in range(PAST_MAX + 1):
            served = await conversations.begin(page, {"seat": f"seat {number}"}, "en")  # type: ignore[arg-type]
            ids.append(served.id)
            await asyncio.sleep(0.2)
            await served.end("enough")
        assert siblings.told[:4] == [("begun", "seat 0"), ("ended", ids[0]), ("begun", "seat 1"), ("ended", ids[1])]
        assert siblings.told[-2:] == [("ended", ids[-1]), ("forgotten", ids[0])]

    run_simulated(run())


def test_other_processes_forget_a_conversation_that_has_moved_to_another_node() -> None:
    async def run() -> None:
        siblings, page, leases = NotedSiblings(), Page(), Leases(store_here(), "a", ttl_ms=TTL_MS)
        conversations = Conversations(make, ServerSettings(), leases, siblings)
        await leases.open(conversations)
        served = await conversations.begin(page, {"seat": "seat"}, "en")  # type: ignore[arg-type]
        await asyncio.sleep(0.2)
        await served.hand_over()
        await asyncio.sleep(0.2)
        assert siblings.told == [("begun", "seat"), ("forgotten", served.id)]
        await leases.close()

    run_simulated(run())
