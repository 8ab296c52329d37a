"""What a node has of one conversation: answers to clients, and work to wait for."""

from __future__ import annotations

import asyncio

import pytest

from duologue.runtime.simulated_clock import run_simulated
from duologue.server.known_conversation import KnownConversation
from duologue.server.ownership.intents import Answer


def test_every_client_that_waits_is_answered_even_if_one_has_gone() -> None:
    async def scene() -> None:
        known = KnownConversation("c")
        loop = asyncio.get_running_loop()
        clients = [loop.create_future() for _ in range(3)]
        known.waiting += clients
        clients[1].cancel()
        known.answer(Answer.LATER)
        assert [clients[0].result(), clients[2].result()] == [Answer.LATER, Answer.LATER]
        assert not known.waiting

    run_simulated(scene())


def test_finish_waits_for_work_that_begins_meanwhile() -> None:
    async def scene() -> None:
        known = KnownConversation("c")
        done: list[int] = []

        async def work(number: int) -> None:
            await asyncio.sleep(1)
            done.append(number)
            if number < 3:
                begin(number + 1)

        def begin(number: int) -> None:
            task = asyncio.get_running_loop().create_task(work(number))
            known.work.add(task)
            task.add_done_callback(known.work.discard)

        begin(1)
        await known.finish()
        assert done == [1, 2, 3]

    run_simulated(scene())


def test_what_never_ran_or_was_never_claimed_says_so() -> None:
    known = KnownConversation("c")
    with pytest.raises(AssertionError, match="never ran"):
        assert known.here
    with pytest.raises(AssertionError, match="never claimed"):
        assert known.lease
    assert not known.is_private
