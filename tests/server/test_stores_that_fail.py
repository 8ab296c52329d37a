"""A store that fails while people talk: they are told, the talk goes on, and nothing is lost when it works again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from duologue.ports.store import Store, StoredConversation, StoreFailed
from duologue.store.postgres import PostgresStore
from duologue.store.sqlite import SqliteStore
from duologue.testing.postgres import PrivatePostgres
from tests.limits import TEST_S, WAIT_S
from tests.privacy.planted import OPERATORS, TOKEN, Keeping, booker, kept_house, talker
from tests.server.running_server import Client, agent_that_says
from tests.store.lossy_proxy import LossyProxy

TTL_MS = 600  # a server looks after its leases three times as often


class Away:
    """A store that can be taken away: whatever is asked of it fails, and nothing is done."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.is_away = False

    def __getattr__(self, name: str) -> Any:
        asked = getattr(self.store, name)

        async def ask(*given: Any, **more: Any) -> Any:
            if self.is_away and name not in ("open", "close"):
                raise StoreFailed("it is away")
            return await asked(*given, **more)

        return ask


def run(scene: Any, seconds: float = TEST_S) -> None:
    asyncio.run(asyncio.wait_for(scene, seconds))


def sqlite(folder: Path) -> SqliteStore:
    return SqliteStore(folder / "store" / "store.sqlite3")


async def said(client: Client, text: str) -> None:
    """A turn in writing, and its answer to the end."""
    count = len(client.told("caption", role="assistant", final=True))
    await client.send("type", text=text)
    await client.expect("caption", after=count, role="assistant", final=True)


async def kept_of(store: Store, conversation: str, holds: Callable[[StoredConversation], bool]) -> StoredConversation:
    """What is kept, once it is so."""
    async with asyncio.timeout(WAIT_S):
        while True:
            kept = await store.read(conversation)
            if kept is not None and holds(kept):
                return kept
            await asyncio.sleep(0.02)


async def until_renewed(store: Store) -> None:
    """Wait longer than a lease lasts, and then for a moment in which every conversation has one."""
    await asyncio.sleep(TTL_MS / 1000 * 1.5)
    async with asyncio.timeout(WAIT_S):
        while not all(held.expires_ms > 0 for held in await store.holdings(10) if not held.is_over):
            await asyncio.sleep(0.02)


def logged(folder: Path) -> str:
    return (folder / "server.log").read_text()


def words_of(kept: StoredConversation) -> str:
    return json.dumps({name: part for name, part in kept.parts.items() if name.startswith("words")})


def has(*words: str) -> Callable[[StoredConversation], bool]:
    return lambda kept: all(word in words_of(kept) for word in words)


# -- During a talk


@pytest.mark.req("L-14", "D-13")
def test_what_is_said_while_the_store_is_away_is_there_when_it_is_back(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Away(sqlite(tmp_path))
        async with kept_house(talker, Keeping(tmp_path, store), ttl_ms=TTL_MS) as running:  # type: ignore[arg-type]
            client = await running.connect()
            told = await client.begin("alice", token=TOKEN)
            await said(client, "before")
            assert not client.told("notification", code="unsaved")
            store.is_away = True
            await said(client, "meanwhile")
            await client.expect("notification", code="unsaved", level="warning")
            await said(client, "still meanwhile")
            store.is_away = False
            await client.expect("notification", code="saved_again")
            await kept_of(store, told["conversation"], has("before", "meanwhile", "still meanwhile"))
            assert len(client.told("notification", code="unsaved")) == 1, "once is enough"

    run(scene())


def test_a_client_that_reloads_while_the_store_fails_is_notified_too(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Away(sqlite(tmp_path))
        async with kept_house(talker, Keeping(tmp_path, store), ttl_ms=TTL_MS) as running:  # type: ignore[arg-type]
            client = await running.connect()
            told = await client.begin("alice", token=TOKEN)
            store.is_away = True
            await said(client, "meanwhile")
            await client.expect("notification", code="unsaved")
            again = await running.connect()
            await again.hello("alice", token=TOKEN, conversation=told["conversation"], key=told["key"])
            await again.expect("notification", code="unsaved")
            store.is_away = False
            await again.expect("notification", code="saved_again")

    run(scene())


def test_a_conversation_that_begins_while_the_store_is_away_is_kept_from_when_it_is_back(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Away(sqlite(tmp_path))
        async with kept_house(talker, Keeping(tmp_path, store), ttl_ms=TTL_MS) as running:  # type: ignore[arg-type]
            store.is_away = True
            client = await running.connect()
            told = await client.begin("alice", token=TOKEN)
            await client.expect("notification", code="unsaved")
            await said(client, "before anybody kept it")
            store.is_away = False
            await client.expect("notification", code="saved_again")
            await kept_of(store, told["conversation"], has("before anybody kept it"))

    run(scene())


def test_one_that_ended_before_it_could_be_kept_leaves_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        store = Away(sqlite(tmp_path))
        async with kept_house(talker, Keeping(tmp_path, store), ttl_ms=TTL_MS) as running:  # type: ignore[arg-type]
            store.is_away = True
            client = await running.connect()
            await client.begin("alice", token=TOKEN)
            await client.send("end")
            await client.expect("ended")
            store.is_away = False
            await asyncio.sleep(TTL_MS / 1000)
            assert await store.holdings(10) == []

    run(scene())


def test_a_client_that_reconnects_while_the_store_is_away_does_not_hear_that_it_has_ended(tmp_path: Path) -> None:
    """`gone` would make a page forget a conversation that is kept."""

    async def scene() -> None:
        async with kept_house(talker, Keeping(tmp_path / "one", sqlite(tmp_path)), ttl_ms=TTL_MS) as running:
            client = await running.connect()
            told = await client.begin("alice", token=TOKEN)
            await said(client, "before")
        store = Away(sqlite(tmp_path))
        keeping = Keeping(tmp_path / "two", store)  # type: ignore[arg-type]
        async with kept_house(talker, keeping, node="two", ttl_ms=60_000) as other:
            back = {"token": TOKEN, "conversation": told["conversation"], "key": told["key"]}
            store.is_away = True
            client = await other.connect()
            await client.hello("alice", **back)
            code, why = await client.gone()
            assert (code, "connect again" in why) == (4503, True)
            assert not client.told("ready"), "a page would take that for a line that works"
            store.is_away = False
            client = await other.connect()
            await client.hello("alice", **back)
            told_again = await client.expect("conversation", resumed=True)
            assert told_again["conversation"] == told["conversation"]
            history = await client.expect("history")
            assert "before" in json.dumps(history)

    run(scene())


@pytest.mark.parametrize("make", [agent_that_says(lambda _: "Yes."), booker])
def test_a_full_disk_is_reported_and_the_conversation_continues(tmp_path: Path, make: Any) -> None:
    async def scene() -> None:
        store = sqlite(tmp_path)

        async def grow(pages: int) -> None:
            await store.with_connection(lambda link: link.execute(f"PRAGMA max_page_count = {pages}").fetchall())

        async with kept_house(make, Keeping(tmp_path, store), ttl_ms=TTL_MS) as running:
            client = await running.connect()
            told = await client.begin("alice", token=TOKEN)
            await grow(1)
            await said(client, "grows" * 700)
            await client.expect("notification", code="unsaved")
            await said(client, "it grows more")
            assert "the disk is full" in logged(tmp_path)
            await grow(1_000_000)
            await client.expect("notification", code="saved_again")
            await kept_of(store, told["conversation"], has("it grows more"))

    run(scene())


def test_a_server_that_goes_away_and_comes_back_costs_a_notice(tmp_path: Path, postgres: PrivatePostgres) -> None:
    async def scene() -> None:
        store = PostgresStore(postgres.tcp_url)
        async with kept_house(talker, Keeping(tmp_path, store), ttl_ms=30_000) as running:
            client = await running.connect()
            told = await client.begin("alice", token=TOKEN)
            await said(client, "before")
            await asyncio.to_thread(postgres.stop)
            await said(client, "meanwhile")
            await client.expect("notification", code="unsaved")
            await asyncio.to_thread(postgres.start)
            await client.expect("notification", code="saved_again")
            await kept_of(store, told["conversation"], has("before", "meanwhile"))
        log = (tmp_path / "server.log").read_text()
        assert postgres.password not in log
        assert "never retrieved" not in log

    run(scene(), 60)


@pytest.mark.parametrize("how", ["lose_before", "lose_after"])
def test_a_connection_that_is_lost_in_a_transaction_is_not_noticed_by_clients(
    tmp_path: Path, postgres: PrivatePostgres, how: str
) -> None:
    async def scene() -> None:
        async with LossyProxy(postgres.port) as proxy:
            url = postgres.tcp_url.replace(f":{postgres.port}/", f":{proxy.port}/")
            async with kept_house(talker, Keeping(tmp_path, PostgresStore(url)), ttl_ms=30_000) as running:
                client = await running.connect()
                told = await client.begin("alice", token=TOKEN)
                getattr(proxy, how)("INSERT INTO parts")
                await said(client, "over a bad line")
                await kept_of(running.conversations.leases.store, told["conversation"], has("over a bad line"))  # type: ignore[union-attr]
                assert proxy.losses == 1
                assert not client.told("notification", code="unsaved")

    run(scene())


# -- Others' conversations


def damage(path: Path, conversation: str, table: str, column: str) -> None:
    link = sqlite3.connect(path, isolation_level=None)
    link.execute(f"UPDATE {table} SET {column} = '{{\"half' WHERE conversation = ?", (conversation,))
    link.close()


async def left_behind(folder: Path, seats: list[str]) -> list[str]:
    """Conversations that a server had when it died."""
    ids = []
    store = sqlite(folder)
    async with kept_house(talker, Keeping(folder / "dead", store), node="dead", ttl_ms=60_000) as running:
        for seat in seats:
            client = await running.connect()
            ids.append((await client.begin(seat, token=TOKEN))["conversation"])
            await said(client, f"from {seat}")
            await kept_of(store, ids[-1], has(f"from {seat}"))
    return ids


@pytest.mark.req("D-13")
def test_a_damaged_conversation_does_not_keep_clients_from_the_others(tmp_path: Path) -> None:
    async def scene() -> None:
        ids = await left_behind(tmp_path, [f"seat {number}" for number in range(7)])
        path = tmp_path / "store" / "store.sqlite3"
        for one in ids[:6]:
            damage(path, one, "parts", "content")
        async with kept_house(talker, Keeping(tmp_path, sqlite(tmp_path)), node="two", ttl_ms=TTL_MS) as running:
            await running.until(lambda: ids[6] in running.conversations.served)
            await running.until(lambda: logged(tmp_path).count("the row is damaged") >= 6)
            await asyncio.sleep(TTL_MS / 1000)
            assert list(running.conversations.served) == [ids[6]]
            log = logged(tmp_path)
            assert log.count("the row is damaged") == 6, "each is told of once"
            assert not [one for one in ids if one in log]
            assert "the store fails" not in log

    run(scene())


def test_a_damaged_journal_costs_the_debug_view_its_past_and_nothing_else(tmp_path: Path) -> None:
    async def scene() -> None:
        (one,) = await left_behind(tmp_path, ["alice"])
        damage(tmp_path / "store" / "store.sqlite3", one, "journal", "lines")
        async with kept_house(talker, Keeping(tmp_path, sqlite(tmp_path)), node="two", ttl_ms=TTL_MS) as running:
            await running.until(lambda: one in running.conversations.served)

    run(scene())


@pytest.mark.alone  # leases are renewed in real time, and a busy disk delays them
@pytest.mark.parametrize(
    "words",
    [
        {},
        {"schema": 1},
        {"schema": 1, "transcript": {}, "asking": {}, "calls": [], "speech": None},
        {"schema": 1, "transcript": {"items": [["user", 1]]}, "asking": {}, "calls": [[1]], "speech": []},
        {"schema": 2, "transcript": {"pages": [0, 9]}, "asking": {}, "calls": [], "speech": None},
        {"schema": 2, "transcript": {"pages": 1}, "asking": {}, "calls": [], "speech": None},
        [],
    ],
)
def test_one_that_makes_no_sense_ends_and_the_server_goes_on(tmp_path: Path, words: Any) -> None:
    async def scene() -> None:
        (one,) = await left_behind(tmp_path, ["alice"])
        link = sqlite3.connect(tmp_path / "store" / "store.sqlite3", isolation_level=None)
        link.execute("UPDATE parts SET content = ? WHERE part = 'words'", (json.dumps(words),))
        link.close()
        store = sqlite(tmp_path)
        async with kept_house(talker, Keeping(tmp_path, store), node="two", ttl_ms=TTL_MS) as running:
            await kept_of(store, one, lambda kept: kept.is_over)
            assert not running.conversations.served
            client = await running.connect()
            await client.begin("alice", token=TOKEN)
            await until_renewed(store)

    run(scene())


@pytest.mark.alone
def test_a_node_whose_name_was_taken_meanwhile_still_looks_after_its_conversations(tmp_path: Path) -> None:
    async def scene() -> None:
        store = sqlite(tmp_path)
        async with kept_house(talker, Keeping(tmp_path, store), node="twin", ttl_ms=TTL_MS) as running:
            client = await running.connect()
            await client.begin("alice", token=TOKEN)
            link = sqlite3.connect(tmp_path / "store" / "store.sqlite3", isolation_level=None)
            link.execute("UPDATE nodes SET instance = 'another', expires_ms = expires_ms + 60000")
            link.close()
            await running.until(lambda: "another node named 'twin' is alive" in logged(tmp_path))
            await until_renewed(store)
            await said(client, "I am still here")

    run(scene())


def test_a_debug_view_opens_on_a_conversation_that_was_taken_over(tmp_path: Path) -> None:
    async def scene() -> None:
        store = sqlite(tmp_path)
        async with kept_house(talker, Keeping(tmp_path / "dead", store), node="dead", ttl_ms=60_000) as running:
            client = await running.connect()
            told = await client.begin("alice", token=TOKEN)
            await said(client, "before")
        async with kept_house(talker, Keeping(tmp_path, sqlite(tmp_path)), node="two", ttl_ms=TTL_MS) as other:
            client = await other.connect()
            await client.hello("alice", token=OPERATORS, conversation=told["conversation"], key=told["key"])
            await client.expect("state", state="listening")
            await client.send("debug", on=True)
            view = await client.expect("debug")
            assert [step for step in view["moments"] if step["event"] == "StartRequested"]
            await said(client, "after")
            assert client.told("moment")

    run(scene())
