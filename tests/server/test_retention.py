"""Old conversations are deleted while the server runs, ended or not."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

import pytest

from duologue.ports.store import StoreFailed, StoreWrite
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.retention import DAY_S, ROUND_S, delete_old, keep_deleting
from duologue.store.memory import MemoryStore

NOW_S = 100.0 * DAY_S


class Store(MemoryStore):
    """A store that notes each sweep."""

    def __init__(self) -> None:
        super().__init__()
        self.swept: list[int] = []

    async def sweep(self, older_than_ms: int) -> int:
        self.swept.append(older_than_ms)
        return await super().sweep(older_than_ms)


def test_old_conversations_are_deleted_again_and_again_while_the_server_runs() -> None:
    async def scene() -> None:
        store = Store()
        deleting = asyncio.create_task(keep_deleting(store, (), 30))
        await asyncio.sleep(ROUND_S * 3.5)
        deleting.cancel()
        assert store.swept == [30 * DAY_S * 1000] * 4

    run_simulated(scene())


def test_old_files_are_deleted_from_the_folder_of_journals(tmp_path: Path) -> None:
    old, new = tmp_path / f"{'a' * 12}.words.jsonl", tmp_path / f"{'b' * 12}.jsonl"
    for file, age_days in ((old, 31), (new, 29)):
        file.write_text("said")
        os.utime(file, (NOW_S - age_days * DAY_S,) * 2)
    asyncio.run(delete_old(None, (tmp_path,), 30, NOW_S))
    assert list(tmp_path.glob("*.jsonl")) == [new]


def test_a_store_that_fails_is_logged_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Store):
        async def sweep(self, older_than_ms: int) -> int:
            await super().sweep(older_than_ms)
            raise StoreFailed("the disk is full")

    async def scene() -> None:
        store = Broken()
        deleting = asyncio.create_task(keep_deleting(store, (), 1))
        await asyncio.sleep(ROUND_S * 1.5)
        deleting.cancel()
        assert len(store.swept) == 2

    with caplog.at_level(logging.ERROR, "duologue.server"):
        run_simulated(scene())
    assert "the disk is full" in caplog.text


def test_a_conversation_that_never_ended_is_deleted_when_no_node_holds_it() -> None:
    async def scene() -> None:
        now_ms = [0]
        store = MemoryStore(clock=lambda: now_ms[0])
        abandoned, _ = await store.claim("a" * 32, "node", 1_000)
        await store.write(abandoned, 0, StoreWrite({"words": {"said": "hello"}}))
        now_ms[0] = 5_000_000
        held, _ = await store.claim("b" * 32, "node", 1_000_000)
        assert await store.sweep(1_000_000) == 1
        assert await store.read("a" * 32) is None
        assert await store.read(held.conversation) is not None

    asyncio.run(scene())
