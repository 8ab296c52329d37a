"""The explorer's store: it grants, refuses and fences as the store port promises."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.lab.check.ownership.moves import OwnershipScope
from duologue.lab.check.ownership.store_model import perform
from duologue.lab.check.ownership.world import NOTHING, TTL, StoreCall, StoredView
from duologue.ports.store import Held, Lease, StoreWrite
from duologue.server.ownership import inputs as on
from duologue.server.ownership import intents as do
from duologue.store.memory import MemoryStore

SCOPE = OwnershipScope("plain")
HELD = StoredView(exists=True, owner=0, epoch=1, expires=TTL, has_content=True)


def outcome(stored: StoredView, node: int, intent: Any, scope: OwnershipScope = SCOPE) -> tuple[Any, StoredView]:
    (first, *_) = perform(stored, node, StoreCall(intent, TTL), scope)
    return first


def test_a_lease_that_lasts_is_only_given_to_its_owner_or_to_a_client() -> None:
    assert outcome(HELD, 1, do.ClaimOrphan())[0] == on.LeaseRefused()
    assert isinstance(outcome(HELD, 0, do.ClaimNew())[0], on.LeaseGranted)
    granted, now = outcome(HELD, 1, do.ClaimForClient())
    assert (granted.epoch, now.owner, now.epoch > 1, now.is_forced) == (now.epoch, 1, True, True)


def test_a_call_under_an_earlier_lease_changes_nothing() -> None:
    for intent in (do.ReleaseLease(9), do.MarkOver(9), do.RenewLease(9), do.SaveAndRelease(9, True)):
        answer, now = outcome(HELD, 0, intent)
        assert now == HELD
        assert answer in (None, on.LeaseLost(9), on.SavingFinished(False))


def test_what_is_damaged_foreign_over_or_missing_is_not_claimed() -> None:
    for stored, scope, expected in (
        (NOTHING, SCOPE, on.NothingStored()),
        (HELD._replace(is_over=True), SCOPE, on.NothingStored()),
        (HELD._replace(is_damaged=True), SCOPE, on.StoredDamaged()),
        (HELD, OwnershipScope("foreign", foreign=(False, True)), on.StoredForAnother()),
    ):
        assert outcome(stored, 1, do.ClaimForClient(), scope) == (expected, stored)


@pytest.mark.parametrize("is_forced", [False, True])
@pytest.mark.parametrize("is_expired", [False, True])
@pytest.mark.parametrize("claimer", [0, 1])
def test_the_model_claims_as_the_store_in_memory_does(claimer: int, is_expired: bool, is_forced: bool) -> None:
    async def is_granted() -> bool:
        now = [0]
        store = MemoryStore(lambda: now[0])
        await store.claim("c", "0", 100)
        now[0] = 200 if is_expired else 0
        try:
            await store.claim("c", str(claimer), 100, force=is_forced)
        except Held:
            return False
        return True

    held = HELD._replace(expires=0) if is_expired else HELD
    answer, _ = outcome(held, claimer, do.ClaimForClient() if is_forced else do.ClaimOrphan())
    assert isinstance(answer, on.LeaseGranted) == asyncio.run(is_granted())


def test_the_model_releases_as_the_store_in_memory_does() -> None:
    async def scene() -> tuple[bool, bool]:
        store = MemoryStore(lambda: 0)
        lease, _ = await store.claim("c", "0", 100)
        await store.release(Lease("c", "0", lease.epoch + 1))
        late = not await store.orphans(1)
        await store.write(lease, 0, StoreWrite({}))
        await store.release(lease)
        return late, await store.orphans(1) == ["c"]

    assert asyncio.run(scene()) == (True, True)
    assert outcome(HELD, 0, do.ReleaseLease(1)) == (None, HELD._replace(owner=-1, expires=0))
