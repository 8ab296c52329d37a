"""The checkpoint writer, with a store that fails or loses answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.ports.failure import UnknownOutcome, classify
from duologue.ports.store import Lease, StoreFailed, StoreWrite, Unsure
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore


class Forgetful(MemoryStore):
    """Does what it is asked, and its next answers are lost."""

    def __init__(self) -> None:
        super().__init__()
        self.loses: list[str] = []
        self.fails: list[str] = []
        self.writes: list[StoreWrite] = []

    async def answer(self, what: str, work: Any) -> Any:
        if what in self.fails:
            self.fails.remove(what)
            work.close()
            raise StoreFailed("away")
        done = await work
        if what in self.loses:
            self.loses.remove(what)
            raise Unsure("lost")
        return done

    async def write(self, lease: Lease, revision: int, write: StoreWrite) -> Any:
        self.writes.append(write)
        return await self.answer("write", super().write(lease, revision, write))

    async def begin(self, *given: Any) -> Any:
        return await self.answer("begin", super().begin(*given))

    async def finish(self, *given: Any) -> Any:
        return await self.answer("finish", super().finish(*given))


async def writer_of(store: MemoryStore) -> CheckpointWriter:
    lease, kept = await store.claim("call", "node", 10_000, force=True)
    return CheckpointWriter(store, lease, kept.revision, lambda: None, lambda problem: None)


@pytest.mark.req("D-13")
def test_a_write_whose_answer_was_lost_is_retried_unchanged_and_not_fenced():
    async def scene() -> None:
        store = Forgetful()
        writer = await writer_of(store)
        count = iter(range(100))
        writer.add_part("machine", lambda: {"number": next(count)})
        store.loses = ["write"]
        writer.mark("machine")
        await asyncio.sleep(0.1)
        writer.mark("machine")  # it has changed since
        await writer.wait_until_saved()
        assert not writer.is_fenced
        kept = await store.read("call")
        assert kept is not None
        assert kept.parts["machine"] == {"number": 1}
        assert [write.parts["machine"]["number"] for write in store.writes] == [0, 0, 1]

    run_simulated(scene())


@pytest.mark.req("D-14")
@pytest.mark.parametrize("trouble", ["loses", "fails"])
def test_an_action_that_was_done_is_done_whatever_the_store_says_afterwards(trouble):
    async def scene() -> None:
        store = Forgetful()
        writer = await writer_of(store)
        ran: list[int] = []

        async def work() -> str:
            ran.append(1)
            return "paid"

        setattr(store, trouble, ["finish"])
        assert await writer.once("key", "pay", work, False) == "paid"
        await writer.wait_until_saved()
        after = await writer_of(store)  # another process
        assert await after.once("key", "pay", work, False) == "paid"
        assert len(ran) == 1

    run_simulated(scene())


def test_an_action_that_was_noted_as_begun_and_never_began_may_begin():
    async def scene() -> None:
        store = Forgetful()
        writer = await writer_of(store)
        ran: list[int] = []

        async def work() -> None:
            ran.append(1)

        store.loses = ["begin"]
        with pytest.raises(Unsure):
            await writer.once("key", "pay", work, False)
        assert not ran
        await writer.once("key", "pay", work, False)
        assert len(ran) == 1
        lease, _ = await store.claim("call", "other", 10_000, force=True)
        await store.begin(lease, "second", "pay")
        other = await writer_of(store)
        with pytest.raises(UnknownOutcome):
            await other.once("second", "pay", work, False)

    run_simulated(scene())


def test_a_store_that_fails_is_worth_another_try():
    assert classify(StoreFailed("away")).value == "NETWORK_TIMEOUT"


@pytest.mark.parametrize(("is_awaited", "attempts"), [(False, 5), (True, 12)])
def test_a_store_that_fails_is_tried_more_often_while_a_caller_waits(is_awaited: bool, attempts: int) -> None:
    async def scene() -> None:
        store = Forgetful()
        writer = await writer_of(store)
        writer.add_part("machine", dict)
        store.fails = ["write"] * 100
        writer.mark("machine")
        waiting = asyncio.ensure_future(_wait_for_ever(writer)) if is_awaited else None
        await asyncio.sleep(6.0)
        assert len(store.writes) == attempts
        if waiting is not None:
            waiting.cancel()
        writer.crash()

    run_simulated(scene())


async def _wait_for_ever(writer: CheckpointWriter) -> None:
    while True:
        try:
            await writer.wait_until_saved()
        except StoreFailed:
            continue
