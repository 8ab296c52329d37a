"""Which conversations count, and who may start another one, with several processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from duologue.fairness.bucket import Rate
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.server.start_control import GIVE_WAY
from tests.limits import TEST_S

from .joined_processes import JoinedProcesses, joined_processes
from .running_server import Client, talk

CALLERS = {"trusted_proxies": ("127.0.0.1",)}  # X-Forwarded-For says which address a client of the test has


def serve_two(script: Callable[[JoinedProcesses], Awaitable[None]], **given: Any) -> None:
    async def whole() -> None:
        async with joined_processes(2, **CALLERS, **given) as joined:
            await script(joined)

    run_jumping(asyncio.wait_for(whole(), TEST_S))


async def start(joined: JoinedProcesses, process: int, address: str = "9.9.9.9") -> tuple[Client, str]:
    """A client that tries to start a conversation, and why it can't; empty if it can."""
    client = await joined.made[process].connect(additional_headers={"X-Forwarded-For": address})
    await client.hello(f"seat {len(joined.made[process].clients)}")
    await client.send("start")
    await client.until(lambda: bool(client.told("state", state="listening") or client.told("error")), "an answer")
    return client, "".join(told["message"] for told in client.told("error"))


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"unspoken_per_address_max": 3}, "Your address has 3 conversations in which nothing was said yet"),
        ({"conversations_per_address_max": 3}, "Your address has 3 conversations, and 3 are allowed"),
        ({"starts": Rate(1, 600_000, 3)}, "Your address starts conversations too often"),
        ({"conversations_max": 6}, "This server is busy, and your address has 3 conversations"),
    ],
    ids=["unspoken", "conversations", "starts", "share of the server"],
)
def test_one_address_gets_no_more_from_two_processes_than_from_one(limits: dict[str, Any], why: str) -> None:
    async def script(joined: JoinedProcesses) -> None:
        refused = [(await start(joined, number % 2))[1] for number in range(8)]
        assert refused[:3] == [""] * 3
        assert all(each.startswith(why) for each in refused[3:]), refused
        assert sum(len(made.conversations.starts) for made in joined.made.values()) == 3
        for process in range(2):
            assert (await start(joined, process, f"9.9.8.{process}"))[1] == "", "another address isn't refused"

    serve_two(script, **limits)


def test_refusals_are_not_told_to_other_processes() -> None:
    async def script(joined: JoinedProcesses) -> None:
        async def told_by(act: Awaitable[Any]) -> int:
            before = joined.told
            await act
            return joined.told - before

        first, _ = await start(joined, 0)
        opened = 2  # the connection itself, which is taken from a bucket and holds a place
        assert await told_by(start(joined, 1)) == opened
        assert await told_by(start(joined, 0)) == opened
        assert await told_by(talk(first, "hello")) == 1
        assert await told_by(talk(first, "and again", after=1)) == 0

    serve_two(script, unspoken_per_address_max=1)


def test_a_conversation_in_which_a_turn_was_said_counts_as_spoken_in_the_other_process() -> None:
    async def script(joined: JoinedProcesses) -> None:
        client, _ = await start(joined, 0)
        assert "nothing was said yet" in (await start(joined, 1))[1]
        await talk(client, "hello")
        assert (await start(joined, 1))[1] == ""

    serve_two(script, unspoken_per_address_max=1)


def test_a_place_can_be_used_in_either_process_and_only_a_full_server_refuses_an_honest_caller() -> None:
    async def script(joined: JoinedProcesses) -> None:
        clients = [(await start(joined, 0, f"9.9.9.{number}")) for number in range(4)]
        assert [why for _, why in clients] == [""] * 4, "one process may have all conversations"
        for process in range(2):
            assert (await joined.made[process].get("/readyz")).status == 503
            assert (await (await start(joined, process, "9.9.8.1"))[0].gone())[0] == 4429
        await clients[0][0].send("end")
        await clients[0][0].expect("ended")
        assert (await joined.made[1].get("/readyz")).status == 200
        assert (await start(joined, 1, "9.9.8.1"))[1] == ""

    serve_two(script, conversations_max=4)


def test_on_a_full_server_a_conversation_without_a_word_gives_way_also_in_the_other_process() -> None:
    async def script(joined: JoinedProcesses) -> None:
        for made in joined.made.values():
            made.conversations.starts.give_way_s_min = 0.0
        silent, _ = await start(joined, 0, "9.9.9.1")
        spoken, _ = await start(joined, 0, "9.9.9.2")
        await talk(spoken, "hello")
        assert (await start(joined, 1, "9.9.9.3"))[1] == ""
        assert (await silent.expect("ended"))["reason"] == GIVE_WAY
        assert not spoken.told("ended")
        assert len(joined.made[0].conversations.starts) == 1

    serve_two(script, conversations_max=2)


def test_when_a_process_dies_its_conversations_count_no_more() -> None:
    async def script(joined: JoinedProcesses) -> None:
        assert (await start(joined, 0))[1] == ""
        assert (await start(joined, 1))[1].startswith("Your address has 1 conversations")
        joined.kill(0)
        assert (await start(joined, 1))[1] == ""

    serve_two(script, conversations_per_address_max=1)


# -- Counting


class Counted:
    """A conversation that is only counted."""

    def __init__(self, id_: str, has_spoken: bool = False) -> None:
        self.id, self.address, self.began = id_, "a", datetime.now(UTC)
        self.is_over, self.has_spoken = False, has_spoken
        self.reasons: list[str] = []

    def give_way(self, reason: str) -> None:
        self.reasons.append(reason)


def test_a_conversation_is_counted_once_and_its_successor_keeps_the_place() -> None:
    async def script(joined: JoinedProcesses) -> None:
        here, there = (made.conversations.starts for made in joined.made.values())
        before, after = Counted("c"), Counted("c")
        for one in (before, before, after):
            here.count(one)
        assert len(here) == 1
        assert there.is_full
        here.uncount(before)  # it was replaced, so this changes nothing
        assert there.is_full
        for _ in range(2):
            here.uncount(after)
        assert not there.is_full

    serve_two(script, conversations_max=1)


def test_a_user_who_has_begun_to_speak_meanwhile_is_not_cut_off() -> None:
    async def script(joined: JoinedProcesses) -> None:
        here, there = (made.conversations.starts for made in joined.made.values())
        here.give_way_s_min = there.give_way_s_min = 0.0
        speaking = Counted("c", has_spoken=True)  # the other process doesn't know of it
        here.count(speaking)
        assert there.why_not("b") is None
        assert speaking.reasons == []
        silent = Counted("d")
        there.count(silent)
        assert here.why_not("b") is not None, "the server has one conversation too many until one ends"
        assert silent.reasons == []

    serve_two(script, conversations_max=1)
