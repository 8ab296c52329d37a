"""What every store promises, whichever kind it is."""

from __future__ import annotations

import asyncio

import pytest

from duologue.core.errors import DuologueError
from duologue.ports.store import (
    ActionProgress,
    Fenced,
    Held,
    Lease,
    NameTaken,
    OutboxMessage,
    Receipt,
    ServerNode,
    StoreFailed,
    StoreWrite,
)
from tests.store.store_places import TTL_MS, Place, claimed, written

# -- Owning


async def test_a_new_conversation_is_empty_and_ours(place: Place) -> None:
    store = await place.store()
    lease, kept = await store.claim("call", "a", TTL_MS, key_hash="k")
    assert lease == Lease("call", "a", kept.epoch)
    assert (kept.revision, dict(kept.parts), kept.key_hash, kept.is_over) == (0, {}, "k", False)


async def test_every_claim_moves_the_epoch_on(place: Place) -> None:
    store = await place.store()
    epochs = [(await claimed(store)).epoch for _ in range(3)]
    assert epochs == sorted(set(epochs))


async def test_another_node_waits_until_the_lease_has_run_out(place: Place) -> None:
    store = await place.store()
    await claimed(store, node="a")
    with pytest.raises(Held, match="node 'a' holds conversation 'call'"):
        await claimed(store, node="b")
    await place.advance(TTL_MS - 1)
    with pytest.raises(Held):
        await claimed(store, node="b")
    await place.advance(1)
    assert (await claimed(store, node="b")).node == "b"


@pytest.mark.graveyard(25)
async def test_one_of_many_concurrent_claims_of_an_orphan_succeeds(place: Place) -> None:
    stores = [await place.store(), await place.store()]
    for number in range(5):
        name = f"call {number}"
        await stores[0].release(await claimed(stores[0], name))
        outcomes = await asyncio.gather(
            *(claimed(stores[n % 2], name, node=f"node {n}") for n in range(8)), return_exceptions=True
        )
        assert sum(isinstance(outcome, Lease) for outcome in outcomes) == 1
        assert sum(isinstance(outcome, Held) for outcome in outcomes) == 7


@pytest.mark.graveyard(25)
async def test_one_of_many_concurrent_creations_succeeds(place: Place) -> None:
    stores = [await place.store(), await place.store()]
    for number in range(5):
        outcomes = await asyncio.gather(
            *(claimed(stores[n % 2], f"call {number}", node=f"node {n}") for n in range(8)), return_exceptions=True
        )
        assert sum(isinstance(outcome, Lease) for outcome in outcomes) == 1
        assert sum(isinstance(outcome, Held) for outcome in outcomes) == 7


async def test_a_client_that_returns_on_another_node_takes_over_at_once(place: Place) -> None:
    store = await place.store()
    old = await claimed(store, node="a")
    new = await claimed(store, node="b", force=True)
    assert new.epoch > old.epoch
    with pytest.raises(Fenced):
        await written(store, old, 0, machine=1)
    assert await written(store, new, 0, machine=2) == 1


async def test_an_expired_lease_still_writes_until_another_node_claims_it(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    await place.advance(2 * TTL_MS)
    assert await written(store, lease, 0, machine=1) == 1
    await claimed(store, node="b")
    with pytest.raises(Fenced):
        await written(store, lease, 1, machine=2)


@pytest.mark.parametrize("force", [False, True])
async def test_a_client_with_another_key_is_rejected_even_with_force(place: Place, force: bool) -> None:
    store = await place.store()
    lease = await claimed(store, key_hash="right")
    await store.release(lease)
    with pytest.raises(Held) as caught:
        await claimed(store, key_hash="wrong", force=force)
    assert "right" not in str(caught.value)
    assert (await claimed(store, key_hash="right")).epoch > lease.epoch


async def test_a_node_that_takes_over_needs_no_key_and_keeps_the_stored_one(place: Place) -> None:
    store = await place.store()
    await store.release(await claimed(store, key_hash="right"))
    _, kept = await store.claim("call", "b", TTL_MS)
    assert kept.key_hash == "right"


async def test_the_first_key_that_is_given_stays(place: Place) -> None:
    store = await place.store()
    await claimed(store)
    await claimed(store, key_hash="first")
    with pytest.raises(Held):
        await claimed(store, key_hash="second")


async def test_renewed_leases_last_and_lost_ones_are_returned(place: Place) -> None:
    store = await place.store()
    mine = [await claimed(store, f"call {number}") for number in range(3)]
    await claimed(store, "call 1", node="b", force=True)
    await place.advance(TTL_MS - 1)
    assert list(await store.renew(mine, TTL_MS)) == [mine[1]]
    await place.advance(TTL_MS - 1)
    with pytest.raises(Held):
        await claimed(store, "call 0", node="b")
    assert list(await store.renew([], TTL_MS)) == []


async def test_more_leases_are_renewed_than_fit_into_one_statement(place: Place) -> None:
    store = await place.store()
    mine = [Lease(f"unclaimed {number}", "a", 1) for number in range(1_200)]
    mine.insert(700, await claimed(store))
    lost = await store.renew(mine, TTL_MS)
    assert len(lost) == 1_200
    assert mine[700] not in lost


async def test_a_released_conversation_can_be_claimed_at_once_and_no_longer_written(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    await store.release(lease)
    await store.release(lease)
    with pytest.raises(Fenced):
        await written(store, lease, 0, machine=1)
    assert list(await store.renew([lease], TTL_MS)) == [lease]
    await claimed(store, node="b")


async def test_a_late_release_does_not_affect_the_new_owner(place: Place) -> None:
    store = await place.store()
    old = await claimed(store)
    new = await claimed(store, node="b", force=True)
    await store.release(old)
    assert await written(store, new, 0, machine=1) == 1


async def test_orphans_are_open_conversations_without_an_owner_the_oldest_first(place: Place) -> None:
    store = await place.store()
    leases = {name: await claimed(store, name) for name in ("held", "over", "late", "released")}
    await store.write(leases["over"], 0, StoreWrite({}, is_over=True))
    await store.release(leases["released"])
    await place.advance(TTL_MS)
    await store.renew([leases["held"]], TTL_MS)
    assert list(await store.orphans(10)) == ["released", "late"]
    assert list(await store.orphans(1)) == ["released"]


# -- Writing


@pytest.mark.req("D-13")
async def test_what_was_written_is_read_back_by_any_node(place: Place) -> None:
    store, other = await place.store(), await place.store()
    lease = await claimed(store)
    parts = {"machine": {"link": "up", "n": [1, 2.5, None, True]}, "words": ["naïve 日本 \x00 \ud800", ""]}
    assert await store.write(lease, 0, StoreWrite(parts)) == 1
    kept = await other.read("call")
    assert kept is not None
    assert (dict(kept.parts), kept.revision, kept.epoch) == (parts, 1, lease.epoch)
    assert await other.read("another") is None


async def test_parts_that_are_not_named_stay_and_none_removes_one(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    await written(store, lease, 0, machine=1, words=2, dialogue=3)
    await written(store, lease, 1, machine=4, words=None, never=None)
    kept = await store.read("call")
    assert kept is not None
    assert dict(kept.parts) == {"machine": 4, "dialogue": 3}


@pytest.mark.req("D-14")
@pytest.mark.graveyard(25)
async def test_of_two_writes_after_the_same_revision_one_is_rejected(place: Place) -> None:
    stores = [await place.store(), await place.store()]
    lease = await claimed(stores[0])
    outcomes = await asyncio.gather(
        *(written(stores[n % 2], lease, 0, machine=n) for n in range(8)), return_exceptions=True
    )
    (winner,) = [n for n, outcome in enumerate(outcomes) if outcome == 1]
    assert all(isinstance(outcome, Fenced) for n, outcome in enumerate(outcomes) if n != winner)
    kept = await stores[1].read("call")
    assert kept is not None
    assert (kept.revision, kept.parts["machine"]) == (1, winner)


@pytest.mark.parametrize("revision", [-1, 0, 2, 10**12])
async def test_a_write_out_of_turn_changes_nothing(place: Place, revision: int) -> None:
    store = await place.store()
    lease = await claimed(store)
    await written(store, lease, 0, machine=1)
    with pytest.raises(Fenced, match="is at revision 1, not"):
        await store.write(
            lease,
            revision,
            StoreWrite({"machine": 2}, done=[("pay", 1)], messages=[OutboxMessage("t", 1)], is_over=True),
        )
    kept = await store.read("call")
    assert kept is not None
    assert (kept.revision, kept.parts["machine"], kept.is_over) == (1, 1, False)
    assert (await store.begin(lease, "pay", "pay")).progress is ActionProgress.NEW
    assert list(await store.outbox("call")) == []


async def test_a_retried_write_has_the_same_answer_and_is_done_once(place: Place) -> None:
    """Whoever never got the answer may ask again."""
    store = await place.store()
    lease = await claimed(store)
    write = StoreWrite({"machine": 1}, done=[("pay", "paid")], messages=[OutboxMessage("sms", "hello")])
    assert [await store.write(lease, 0, write) for _ in range(3)] == [1, 1, 1]
    assert len(await store.outbox("call")) == 1
    with pytest.raises(Fenced):
        await store.write(lease, 0, StoreWrite({"machine": 1}))
    assert await store.write(lease, 1, write) == 2
    with pytest.raises(Fenced):
        await store.write(lease, 0, write)


async def test_the_same_write_of_an_earlier_owner_is_fenced(place: Place) -> None:
    store = await place.store()
    old = await claimed(store)
    await written(store, old, 0, machine=1)
    new = await claimed(store, node="a")
    for lease in (old, new):
        with pytest.raises(Fenced):
            await written(store, lease, 0, machine=1)


async def test_a_conversation_that_is_over_stays_over(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    await store.write(lease, 0, StoreWrite({}, is_over=True))
    await store.write(lease, 1, StoreWrite({"words": 1}))
    _, kept = await store.claim("call", "a", TTL_MS)
    assert kept.is_over


# -- Actions that run once


@pytest.mark.req("D-14")
async def test_an_action_is_new_once_then_begun_then_done(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    assert await store.begin(lease, "k1", "pay") == Receipt("k1", ActionProgress.NEW, "pay")
    assert await store.begin(lease, "k1", "pay") == Receipt("k1", ActionProgress.BEGUN, "pay")
    await store.finish(lease, "k1", {"paid": 3})
    assert await store.begin(lease, "k1", "pay") == Receipt("k1", ActionProgress.DONE, "pay", {"paid": 3})
    assert (await store.begin(lease, "k2", "pay")).progress is ActionProgress.NEW


@pytest.mark.req("D-14")
async def test_a_node_that_takes_over_learns_what_was_begun_and_what_was_done(place: Place) -> None:
    store, other = await place.store(), await place.store()
    lease = await claimed(store)
    await store.begin(lease, "begun", "pay")
    await store.begin(lease, "done", "pay")
    await store.write(lease, 0, StoreWrite({"machine": 1}, done=[("done", None)]))
    lease = await claimed(other, node="b", force=True)
    assert (await other.begin(lease, "begun", "pay")).progress is ActionProgress.BEGUN
    assert await other.begin(lease, "done", "pay") == Receipt("done", ActionProgress.DONE, "pay", None)


@pytest.mark.req("D-14")
@pytest.mark.graveyard(25)
async def test_of_two_concurrent_begins_one_is_new(place: Place) -> None:
    stores = [await place.store(), await place.store()]
    lease = await claimed(stores[0])
    receipts = await asyncio.gather(*(stores[n % 2].begin(lease, "pay", "pay") for n in range(8)))
    assert sorted(receipt.progress.value for receipt in receipts) == ["begun"] * 7 + ["new"]


@pytest.mark.req("D-14")
@pytest.mark.graveyard(25)
async def test_two_nodes_that_begin_at_once_never_both_get_new(place: Place) -> None:
    stores = [await place.store(), await place.store()]
    old = await claimed(stores[0])

    async def overtake() -> Receipt:
        new = await claimed(stores[1], node="b", force=True)
        return await stores[1].begin(new, "pay", "pay")

    outcomes = await asyncio.gather(stores[0].begin(old, "pay", "pay"), overtake(), return_exceptions=True)
    assert sum(isinstance(one, Receipt) and one.progress is ActionProgress.NEW for one in outcomes) == 1
    assert all(isinstance(one, Receipt | Fenced) for one in outcomes)


async def test_an_overtaken_owner_begins_finishes_sends_and_logs_nothing(place: Place) -> None:
    store = await place.store()
    old = await claimed(store)
    await store.write(old, 0, StoreWrite({}, messages=[OutboxMessage("t", 1)]))
    (message,) = await store.outbox("call")
    new = await claimed(store, node="b", force=True)
    for late in (
        store.begin(old, "k", "pay"),
        store.finish(old, "k", 1),
        store.sent(old, [message.id]),
        store.log(old, ["line"]),
    ):
        with pytest.raises(Fenced):
            await late
    assert (await store.begin(new, "k", "pay")).progress is ActionProgress.NEW
    assert list(await store.outbox("call")) == [message]
    assert list(await store.journal("call")) == []


async def test_an_action_is_finished_once(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    await store.begin(lease, "k", "pay")
    await store.finish(lease, "k", 1)
    await store.finish(lease, "k", 1)
    with pytest.raises(Fenced, match="already finished"):
        await store.finish(lease, "k", 2)
    with pytest.raises(Fenced, match="already finished"):
        await store.write(lease, 0, StoreWrite({"machine": 1}, done=[("k", 3)]))
    kept = await store.read("call")
    assert kept is not None
    assert kept.revision == 0
    assert (await store.begin(lease, "k", "pay")).output == 1


async def test_keys_of_one_conversation_mean_nothing_in_another(place: Place) -> None:
    store = await place.store()
    for name in ("one", "two"):
        assert (await store.begin(await claimed(store, name), "k", "pay")).progress is ActionProgress.NEW


# -- Messages and the journal


async def test_messages_wait_in_order_until_they_were_sent(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    await store.write(lease, 0, StoreWrite({}, messages=[OutboxMessage("sms", {"to": 1}), OutboxMessage("mail", None)]))
    await store.write(lease, 1, StoreWrite({}, messages=[OutboxMessage("sms", "later")]))
    waiting = await store.outbox("call")
    assert [(message.topic, message.body) for message in waiting] == [
        ("sms", {"to": 1}),
        ("mail", None),
        ("sms", "later"),
    ]
    await store.sent(lease, [waiting[0].id, waiting[2].id, 12_345])
    await store.sent(lease, [])
    assert list(await store.outbox("call")) == [waiting[1]]


async def test_messages_of_another_conversation_cannot_be_removed(place: Place) -> None:
    store = await place.store()
    one, two = await claimed(store, "one"), await claimed(store, "two")
    await store.write(one, 0, StoreWrite({}, messages=[OutboxMessage("t", 1)]))
    (message,) = await store.outbox("one")
    await store.sent(two, [message.id])
    assert list(await store.outbox("one")) == [message]


async def test_the_journal_keeps_its_lines_in_order(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    await store.log(lease, ["one", "two"])
    await store.log(lease, [])
    await store.log(lease, ["three", "two"])
    assert list(await store.journal("call")) == ["one", "two", "three", "two"]
    assert list(await store.journal("another")) == []


# -- Nodes


async def test_two_nodes_of_one_name_are_rejected(place: Place) -> None:
    store, other = await place.store(), await place.store()
    await store.enlist(ServerNode("a", "first", "http://a"), TTL_MS)
    with pytest.raises(NameTaken, match="another node named 'a' is alive"):
        await other.enlist(ServerNode("a", "second"), TTL_MS)
    await store.enlist(ServerNode("a", "first", "http://a", conversations=3), TTL_MS)
    await place.advance(5)
    assert list(await other.nodes()) == [ServerNode("a", "first", "http://a", 3, alive_ms=5)]
    await place.advance(TTL_MS)
    assert list(await other.nodes()) == []
    await other.enlist(ServerNode("a", "second"), TTL_MS)
    with pytest.raises(NameTaken):
        await store.enlist(ServerNode("a", "first"), TTL_MS)


async def test_a_node_that_left_frees_its_name_and_no_other(place: Place) -> None:
    store = await place.store()
    await store.enlist(ServerNode("a", "first"), TTL_MS)
    await store.leave(ServerNode("a", "second"))
    assert len(await store.nodes()) == 1
    await store.leave(ServerNode("a", "first"))
    await store.enlist(ServerNode("a", "second"), TTL_MS)


async def test_of_two_that_enlist_at_once_one_gets_the_name(place: Place) -> None:
    stores = [await place.store(), await place.store()]
    outcomes = await asyncio.gather(
        *(stores[n % 2].enlist(ServerNode("a", f"number {n}"), TTL_MS) for n in range(6)), return_exceptions=True
    )
    assert sum(outcome is None for outcome in outcomes) == 1
    assert sum(isinstance(outcome, NameTaken) for outcome in outcomes) == 5


async def test_even_two_nodes_of_one_name_never_write_after_each_other(place: Place) -> None:
    """Whoever ignores that the name is taken is still fenced by the epoch."""
    first, second = await place.store(), await place.store()
    old = await claimed(first, node="a")
    new = await claimed(second, node="a")
    with pytest.raises(Fenced):
        await written(first, old, 0, machine=1)
    assert await written(second, new, 0, machine=2) == 1


async def test_holdings_are_listed_the_newest_first(place: Place) -> None:
    store = await place.store()
    one = await claimed(store, "one")
    await place.advance(7)
    two = await claimed(store, "two", node="b")
    await store.write(two, 0, StoreWrite({}, is_over=True))
    await place.advance(TTL_MS - 7)
    listed = [
        (held.conversation, held.node, held.epoch, held.revision, held.expires_ms, held.age_ms, held.is_over)
        for held in await store.holdings(10)
    ]
    assert listed == [("two", "b", two.epoch, 1, 7, TTL_MS - 7, True), ("one", "a", one.epoch, 0, 0, TTL_MS, False)]
    assert len(await store.holdings(1)) == 1


# -- Forgetting


async def fill(place: Place, name: str) -> Lease:
    store = await place.store()
    lease = await claimed(store, name)
    await store.begin(lease, "k", "pay")
    await store.write(lease, 0, StoreWrite({"words": "secret"}, messages=[OutboxMessage("t", "secret")], is_over=True))
    await store.log(lease, ["secret"])
    return lease


@pytest.mark.req("C-SEC-002")
async def test_a_forgotten_conversation_is_gone_everywhere(place: Place) -> None:
    lease = await fill(place, "call")
    other = await fill(place, "other")
    store = await place.store()
    assert await store.forget("call")
    assert not await store.forget("call")
    assert await store.read("call") is None
    assert not [*await store.outbox("call"), *await store.journal("call")]
    with pytest.raises(Fenced):
        await written(store, lease, 1, words="again")
    again, kept = await store.claim("call", "a", TTL_MS)
    assert (kept.revision, dict(kept.parts), kept.is_over) == (0, {}, False)
    assert (await store.begin(again, "k", "pay")).progress is ActionProgress.NEW
    assert (await store.begin(other, "k", "pay")).progress is ActionProgress.BEGUN


async def test_an_epoch_is_never_reused_not_even_after_forgetting(place: Place) -> None:
    store = await place.store()
    old = await claimed(store)
    await store.forget("call")
    new = await claimed(store)
    assert new.epoch > old.epoch
    with pytest.raises(Fenced):
        await written(store, old, 0, machine=1)


@pytest.mark.req("C-SEC-002")
async def test_a_sweep_deletes_only_old_conversations_that_are_over(place: Place) -> None:
    await fill(place, "old")
    store = await place.store()
    open_one = await claimed(store, "open")
    await place.advance(1_000)
    await fill(place, "young")
    assert await store.sweep(1_000) == 1
    assert [held.conversation for held in await store.holdings(10)] == ["young", "open"]
    assert list(await store.journal("old")) == []
    assert await store.sweep(1_000) == 0
    assert await written(store, open_one, 0, machine=1) == 1


async def test_a_sweep_deletes_hundreds(place: Place) -> None:
    store = await place.store()

    async def one(number: int) -> None:
        await store.write(await claimed(store, f"call {number}"), 0, StoreWrite({"words": 1}, is_over=True))

    await asyncio.gather(*(one(number) for number in range(450)))
    assert await store.sweep(0) == 450
    assert list(await store.holdings(10)) == []


# -- What is refused


@pytest.mark.parametrize("name", ["", "with\nline", "null\x00", "half \ud800", "x" * 300], ids=ascii)
async def test_names_that_a_database_cannot_store_are_rejected_by_all_stores(place: Place, name: str) -> None:
    store = await place.store()
    lease = await claimed(store)
    for bad in (
        lambda: store.claim(name, "a", TTL_MS),
        lambda: store.claim("call", name, TTL_MS),
        lambda: store.read(name),
        lambda: store.write(lease, 0, StoreWrite({name: 1})),
        lambda: store.write(lease, 0, StoreWrite({}, messages=[OutboxMessage(name, 1)])),
        lambda: store.write(Lease(name, "a", 1), 0, StoreWrite({})),
        lambda: store.enlist(ServerNode("a", name), TTL_MS),
        lambda: store.forget(name),
    ):
        with pytest.raises(StoreFailed) as caught:
            await bad()
        assert "\n" not in str(caught.value)
    with pytest.raises(StoreFailed):
        await store.begin(lease, name * 4, "pay")


@pytest.mark.parametrize(
    "value", [object(), float("nan"), {1, 2}, {("a", "b"): 1}], ids=["object", "nan", "set", "tuple key"]
)
async def test_a_value_that_is_not_json_is_rejected_before_anything_changes(place: Place, value: object) -> None:
    store = await place.store()
    lease = await claimed(store)
    for bad in (
        StoreWrite({"machine": 1, "words": value}),
        StoreWrite({"machine": 1}, done=[("k", value)]),
        StoreWrite({"machine": 1}, messages=[OutboxMessage("t", value)]),
    ):
        with pytest.raises(StoreFailed, match="can't be stored as JSON"):
            await store.write(lease, 0, bad)
    with pytest.raises(StoreFailed):
        await store.finish(lease, "k", value)
    kept = await store.read("call")
    assert kept is not None
    assert kept.revision == 0


async def test_a_write_that_is_too_large_is_rejected(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    assert await written(store, lease, 0, words="x" * 4_000_000) == 1
    with pytest.raises(StoreFailed, match="too large"):
        await written(store, lease, 1, words="x" * 8_000_000)
    for ttl_ms in (-1, 10**15):
        with pytest.raises(StoreFailed, match="must last"):
            await store.claim("call", "a", ttl_ms)


async def test_many_conversations_write_side_by_side(place: Place) -> None:
    stores = [await place.store(), await place.store()]

    async def talk(number: int) -> None:
        store = stores[number % 2]
        lease = await claimed(store, f"call {number}")
        for revision in range(10):
            assert await written(store, lease, revision, machine=[number, revision]) == revision + 1

    await asyncio.gather(*(talk(number) for number in range(20)))
    for number in range(20):
        kept = await stores[number % 2 - 1].read(f"call {number}")
        assert kept is not None
        assert (kept.revision, kept.parts["machine"]) == (10, [number, 9])


async def test_with_many_competing_nodes_every_write_belongs_to_one_owner(place: Place) -> None:
    """Nodes claim it from each other by force. Every confirmed write was written; each revision is used once."""
    stores = [await place.store(), await place.store()]
    wrote: list[tuple[int, str]] = []

    async def fight(number: int) -> None:
        store, node = stores[number % 2], f"node {number}"
        for attempt in range(10):
            lease, kept = await store.claim("call", node, TTL_MS, force=True)
            try:
                for revision in range(kept.revision, kept.revision + 3):
                    mark = f"{node}/{attempt}/{revision}"
                    new = await store.write(lease, revision, StoreWrite({mark.replace("/", " "): 1, "last": mark}))
                    wrote.append((new, mark))
            except Fenced:
                continue

    await asyncio.gather(*(fight(number) for number in range(4)))
    kept = await stores[0].read("call")
    assert kept is not None
    revisions = [revision for revision, _ in wrote]
    assert sorted(revisions) == list(range(1, kept.revision + 1))
    assert kept.parts["last"] == max(wrote)[1]
    assert set(kept.parts) == {"last", *(mark.replace("/", " ") for _, mark in wrote)}


async def test_a_cancelled_caller_does_not_disturb_the_next(place: Place) -> None:
    store = await place.store()
    lease = await claimed(store)
    task = asyncio.create_task(written(store, lease, 0, machine=1))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    kept = await store.read("call")
    assert kept is not None
    revision = kept.revision  # cancelled in time or not: both are possible, and reading shows which
    assert await written(store, lease, revision, machine=2) == revision + 1


async def test_every_error_is_one_that_callers_of_duologue_catch() -> None:
    assert all(issubclass(error, DuologueError) for error in (StoreFailed, Fenced, Held, NameTaken))


# -- Fairness


@pytest.mark.parametrize("kind", ["write", "claim", "renew"])
@pytest.mark.parametrize("name", ["sqlite", "pg"])
async def test_the_flood_of_one_conversation_does_not_delay_another_one(
    name: str, kind: str, request: pytest.FixtureRequest
) -> None:
    """A database that is slower than one conversation's demands serves the other conversations in between. The flood
    was there first: in one queue, all of it would be done before. While the other conversation is served, the flood
    goes on beside it, as far as the computer is fast."""
    place: Place = request.getfixturevalue(name)
    try:
        store = await place.store()
        greedy, honest = await claimed(store, "greedy"), await claimed(store, "honest")
        flood = [asyncio.create_task(store.log(greedy, ["a line"])) for _ in range(400)]
        await asyncio.sleep(0)
        if kind == "write":
            assert await written(store, honest, 0, words="mine") == 1
        elif kind == "claim":
            assert (await claimed(store, "new")).conversation == "new"
        else:
            assert await store.renew([honest], TTL_MS) == []
        assert not all(task.done() for task in flood)
        await asyncio.gather(*flood)
        assert len(await store.journal("greedy")) == 400
    finally:
        await place.close()
