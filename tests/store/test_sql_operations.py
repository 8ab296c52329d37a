"""The scripts, run by hand on SQLite: what each changes, and that the fence stops an old owner."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from duologue.ports.store import ActionProgress, Fenced, Held, Lease, StoreWrite
from duologue.store import sql_operations
from duologue.store.schema import STEPS
from duologue.store.sql_operations import SQLITE, Claimed, marks
from duologue.store.sqlite_thread import drive
from duologue.store.write_content import content_of

NOW_MS = 5_000


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.create_function("now_ms", 0, lambda: NOW_MS)
    for step in STEPS:
        for statement in step.sqlite:
            made.execute(statement)
    yield made
    made.close()


def claim(connection: sqlite3.Connection, node: str = "a", force: bool = False) -> Claimed:
    return drive(connection, sql_operations.claim(SQLITE, "call", node, 1_000, "", force))


def test_placeholders_are_grouped_by_row() -> None:
    assert (marks(2, 3), marks(1, 2), marks(3)) == ("(?, ?, ?), (?, ?, ?)", "(?, ?)", "(?), (?), (?)")


def test_a_claim_creates_a_row_and_another_node_is_refused(connection: sqlite3.Connection) -> None:
    lease, stored = claim(connection)
    assert (lease, stored.revision) == (Lease("call", "a", 1), 0)
    assert connection.execute("SELECT node, expires_ms FROM conversations").fetchall() == [("a", NOW_MS + 1_000)]
    with pytest.raises(Held, match="node 'a' holds conversation 'call'"):
        claim(connection, "b")


def test_a_write_moves_the_revision_once_and_only_for_the_owner(connection: sqlite3.Connection) -> None:
    old, _ = claim(connection)
    content = content_of(StoreWrite({"words": "hello"}))
    assert drive(connection, sql_operations.write(old, 0, content)) == 1
    assert drive(connection, sql_operations.write(old, 0, content)) == 1, "a retry has the same answer"
    claim(connection, "b", force=True)
    with pytest.raises(Fenced, match="node 'a' no longer holds conversation 'call'"):
        drive(connection, sql_operations.write(old, 1, content))
    assert connection.execute("SELECT part, content FROM parts").fetchall() == [("words", '"hello"')]


def test_the_token_tells_a_retry_from_another_caller(connection: sqlite3.Connection) -> None:
    lease, _ = claim(connection)
    found = [
        drive(connection, sql_operations.begin(SQLITE, lease, "pay", "pay", token)).progress
        for token in ("one", "one", "two")
    ]
    assert found == [ActionProgress.NEW, ActionProgress.NEW, ActionProgress.BEGUN]


def test_forgetting_leaves_no_row_of_a_conversation(connection: sqlite3.Connection) -> None:
    lease, _ = claim(connection)
    drive(connection, sql_operations.write(lease, 0, content_of(StoreWrite({"words": "hello"}))))
    drive(connection, sql_operations.log(SQLITE, lease, "batch", sql_operations.as_lines(["one"])))
    assert drive(connection, sql_operations.forget("call"))
    for table in ("conversations", *sql_operations.TABLES):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]
    assert not drive(connection, sql_operations.forget("call"))
