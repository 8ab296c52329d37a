"""The audit of a store: every accepted write is recorded by the database, and refused ones are not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from duologue.lab.torture import store_audit
from duologue.lab.torture.person_notes import AcceptedWrite
from duologue.lab.torture.tortured_agent import ActionLog
from duologue.ports.store import Fenced, StoreWrite
from duologue.store.store_url import open_store

ID = "c" * 32
ITEMS = [["user", 1, "order 1001"], ["agent", 1, "Shall I order 1001?"], ["user", 2, "yes"]]
PARTS = {
    "machine": {"state": {"said": 2, "answered": 1, "voice": "playing"}},
    "words": {"schema": 1, "transcript": {"items": ITEMS}},
}


async def write_by_two_nodes(path: str) -> None:
    """Two writes by a1, one by b1 after it took the conversation over, and one by a1 that is refused."""
    await store_audit.prepare(path)
    store = open_store(path)
    await store.open()
    first, stored = await store.claim(ID, "a1", 60_000)
    revision = await store.write(first, stored.revision, StoreWrite({"machine": {}}))
    revision = await store.write(first, revision, StoreWrite(PARTS))
    second, _ = await store.claim(ID, "b1", 60_000, force=True)
    with pytest.raises(Fenced):
        await store.write(first, revision, StoreWrite({"machine": {"at": 2}}))
    await store.write(second, revision, StoreWrite({"extra": {}}))
    await store.close()


def test_accepted_writes_are_recorded_in_order_and_refused_ones_are_not(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite3")
    asyncio.run(write_by_two_nodes(path))
    first, second, third = store_audit.writes(path)
    assert second == AcceptedWrite(ID, "a1", first.epoch, first.revision + 1)
    assert third == AcceptedWrite(ID, "b1", third.epoch, second.revision + 1)
    assert first.epoch < third.epoch


def test_a_conversation_is_read_as_it_was_last_saved(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite3")
    asyncio.run(write_by_two_nodes(path))
    found = asyncio.run(store_audit.saved_conversations(path, [ID, "d" * 32]))
    assert list(found) == [ID]
    assert (found[ID].user, found[ID].owed, found[ID].is_over) == (("order 1001", "yes"), 1, False)
    assert found[ID].is_sounding


def test_checkpoints_and_journals_are_written_to_a_folder(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite3")
    asyncio.run(write_by_two_nodes(path))
    asyncio.run(store_audit.journals(path, [ID], tmp_path))
    assert json.loads((tmp_path / f"{ID}.checkpoint.json").read_text(encoding="utf-8"))["machine"] == PARTS["machine"]
    assert (tmp_path / f"{ID}.journal.jsonl").exists()


def test_logged_actions_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "actions.jsonl"
    assert store_audit.logged_actions(file) == []
    ActionLog(file, "a1").note("pay", "1002", "k", "begun")
    ActionLog(file, "b1").note("pay", "1002", "k", "done")
    found = store_audit.logged_actions(file)
    assert [(one.name, one.item, one.key, one.stage, one.node) for one in found] == [
        ("pay", "1002", "k", "begun", "a1"),
        ("pay", "1002", "k", "done", "b1"),
    ]


@pytest.mark.parametrize(("store", "is_one"), [("postgresql://host/db", True), ("postgres://x", True), ("/a/b", False)])
def test_a_postgresql_store_is_known_by_its_url(store: str, is_one: bool) -> None:
    assert store_audit.is_postgres(store) is is_one
