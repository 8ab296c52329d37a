"""Records every write that the store accepted, and reads what the store saved.

A trigger of the database records a write in the same transaction, so the audit doesn't depend on the store's code.
Rule: read the audit only after the run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duologue.ports.store import Store
from duologue.runtime.checkpoint import stored_transcript
from duologue.store.store_url import open_store

from .person_notes import AcceptedWrite, LoggedAction, SavedConversation

_TABLE = "torture_writes"
_COLUMNS = "conversation, node, epoch, revision"
_POSTGRES = (
    f"CREATE TABLE IF NOT EXISTS {_TABLE} "
    "(id BIGINT GENERATED ALWAYS AS IDENTITY, conversation TEXT, node TEXT, epoch BIGINT, revision BIGINT)",
    f"CREATE OR REPLACE FUNCTION torture_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    f"INSERT INTO {_TABLE} ({_COLUMNS}) VALUES (NEW.id, NEW.node, NEW.epoch, NEW.revision); RETURN NEW; END $$",
    "CREATE OR REPLACE TRIGGER torture_audit AFTER UPDATE OF revision ON conversations FOR EACH ROW "
    "WHEN (NEW.revision IS DISTINCT FROM OLD.revision) EXECUTE FUNCTION torture_note()",
)
_SQLITE = (
    f"CREATE TABLE IF NOT EXISTS {_TABLE} "
    "(id INTEGER PRIMARY KEY, conversation TEXT, node TEXT, epoch INTEGER, revision INTEGER)",
    "CREATE TRIGGER IF NOT EXISTS torture_audit AFTER UPDATE OF revision ON conversations "
    f"WHEN NEW.revision IS NOT OLD.revision BEGIN INSERT INTO {_TABLE} ({_COLUMNS}) "
    "VALUES (NEW.id, NEW.node, NEW.epoch, NEW.revision); END",
)


def is_postgres(store: str) -> bool:
    """Is this store a PostgreSQL URL, rather than the path of an SQLite file?"""
    return store.startswith("postgres")


async def prepare(store: str) -> None:
    """Create the store's own tables, then the table and the trigger of the audit."""
    opened = open_store(store)
    await opened.open()
    await opened.close()
    if is_postgres(store):
        with _postgres(store) as connection:
            for statement in _POSTGRES:
                connection.execute(statement)
    else:
        with _sqlite(store) as file:
            for statement in _SQLITE:
                file.execute(statement)
        file.close()


def _postgres(store: str) -> Any:
    import psycopg

    return psycopg.connect(store, autocommit=True, options="-c search_path=duologue")


def _sqlite(store: str) -> sqlite3.Connection:
    return sqlite3.connect(store, timeout=30, isolation_level=None)


def writes(store: str) -> list[AcceptedWrite]:
    """All writes that the audit recorded, in order."""
    question = f"SELECT {_COLUMNS} FROM {_TABLE} ORDER BY id"
    if is_postgres(store):
        with _postgres(store) as connection:
            return [AcceptedWrite(*row) for row in connection.execute(question).fetchall()]
    file = _sqlite(store)
    try:
        return [AcceptedWrite(*row) for row in file.execute(question)]
    finally:
        file.close()


async def saved_conversations(store: str, conversations: Sequence[str]) -> dict[str, SavedConversation]:
    """These conversations by id, as they were last saved. A conversation is omitted if it isn't in the store, or was
    stored without its part "words"."""
    opened = open_store(store)
    await opened.open()
    try:
        return await saved_in(opened, conversations)
    finally:
        await opened.close()


async def saved_in(store: Store, conversations: Sequence[str]) -> dict[str, SavedConversation]:
    """Like `saved_conversations`, but for a store that is already open."""
    found = {}
    for id_ in conversations:
        one = await store.read(id_)
        if one is not None and "words" in one.parts:
            state = one.parts["machine"]["state"]
            items = stored_transcript(one.parts)["items"]
            user = tuple(item[2] for item in items if item[0] == "user")
            found[id_] = SavedConversation(id_, user, state["said"] - state["answered"], one.is_over, state)
    return found


async def journals(store: str, conversations: Sequence[str], folder: Path) -> None:
    """Write the journals and checkpoints of these conversations to a folder."""
    opened = open_store(store)
    await opened.open()
    try:
        for id_ in conversations:
            lines = await opened.journal(id_)
            (folder / f"{id_}.journal.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
            one = await opened.read(id_)
            parts = dict(one.parts) if one is not None else {}
            (folder / f"{id_}.checkpoint.json").write_text(json.dumps(parts, indent=1), encoding="utf-8")
    finally:
        await opened.close()


def logged_actions(file: Path) -> list[LoggedAction]:
    """The entries of the log of actions, or an empty list if the file is missing."""
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return [LoggedAction(**json.loads(line)) for line in lines if line]
