"""The store in memory: what is only true of it. Everything else is in test_store_contract.py."""

from __future__ import annotations

from duologue.ports.store import Lease, StoreWrite
from duologue.store.memory import MemoryStore


async def test_what_was_read_does_not_change_with_later_writes() -> None:
    store = MemoryStore(lambda: 1)
    lease, _ = await store.claim("call", "a", 1_000)
    await store.write(lease, 0, StoreWrite({"words": ["one"]}))
    before = await store.read("call")
    await store.write(lease, 1, StoreWrite({"words": ["two"]}))
    assert before is not None
    assert before.parts == {"words": ["one"]}


async def test_its_clock_decides_when_a_lease_ends() -> None:
    now_ms = 0
    store = MemoryStore(lambda: now_ms)
    await store.claim("call", "a", 1_000)
    now_ms = 999
    assert list(await store.orphans(10)) == []
    now_ms = 1_000
    assert list(await store.orphans(10)) == ["call"]


async def test_two_stores_share_nothing() -> None:
    one, other = MemoryStore(), MemoryStore()
    assert (await one.claim("call", "a", 1_000))[0] == Lease("call", "a", 1)
    assert await other.read("call") is None
