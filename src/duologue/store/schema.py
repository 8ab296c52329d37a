"""The database schema as a list of migration steps. A store applies the missing steps in one transaction.

New steps are added at the end; existing steps are never changed or removed. Rule: the tables of conversations have the
same columns in SQLite and PostgreSQL. Every table with a column `conversation` is listed in `TABLES`, so that all data
is deleted when a conversation is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duologue.ports.store import StoreFailed

TABLES = ("parts", "receipts", "messages", "journal")  # the tables with rows of a conversation


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """The SQL statements that upgrade a database from the previous schema version to this one."""

    version: int
    sqlite: Sequence[str]
    postgres: Sequence[str]


CONVERSATIONS = """CREATE TABLE conversations (
    id TEXT PRIMARY KEY, node TEXT NOT NULL, epoch BIGINT NOT NULL, revision BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL, written_ms BIGINT NOT NULL, key_hash TEXT NOT NULL,
    is_over INTEGER NOT NULL, write_hash TEXT NOT NULL)"""
SHARED = (
    "CREATE INDEX conversations_open ON conversations (expires_ms) WHERE is_over = 0",
    "CREATE INDEX conversations_over ON conversations (is_over) WHERE is_over = 1",
    """CREATE TABLE parts (conversation TEXT NOT NULL, part TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (conversation, part))""",
    """CREATE TABLE receipts (conversation TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL,
    token TEXT NOT NULL, output TEXT, PRIMARY KEY (conversation, key))""",
    """CREATE TABLE nodes (name TEXT PRIMARY KEY, instance TEXT NOT NULL, address TEXT NOT NULL,
    conversations BIGINT NOT NULL, seen_ms BIGINT NOT NULL, expires_ms BIGINT NOT NULL)""",
)
ROWS = (  # the two databases number rows differently
    "CREATE TABLE messages (id {number}, conversation TEXT NOT NULL, topic TEXT NOT NULL, body TEXT NOT NULL)",
    "CREATE INDEX messages_of ON messages (conversation, id)",
    "CREATE TABLE journal (id {number}, conversation TEXT NOT NULL, batch TEXT NOT NULL UNIQUE, lines TEXT NOT NULL)",
    "CREATE INDEX journal_of ON journal (conversation, id)",
)

STEPS: Sequence[MigrationStep] = (
    MigrationStep(
        1,
        sqlite=(
            CONVERSATIONS,
            *SHARED,
            *(row.format(number="INTEGER PRIMARY KEY AUTOINCREMENT") for row in ROWS),
            "CREATE TABLE epochs (last INTEGER NOT NULL)",
            "INSERT INTO epochs VALUES (0)",
        ),
        postgres=(
            CONVERSATIONS + " WITH (fillfactor = 70)",  # leaves room to update a row in place
            *SHARED,
            *(row.format(number="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY") for row in ROWS),
            "CREATE SEQUENCE epochs",
            """CREATE FUNCTION now_ms() RETURNS BIGINT LANGUAGE SQL VOLATILE AS
            'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint'""",
        ),
    ),
)


def missing(found: int, steps: Sequence[MigrationStep], where: str) -> Sequence[MigrationStep]:
    """The migration steps that a database at version `found` still needs. Raises `StoreFailed` if this version is newer
    than all known steps."""
    newest = steps[-1].version
    if found > newest:
        raise StoreFailed(
            f"{where} has schema version {found}, but this version of Duologue supports at most {newest}: "
            f"upgrade Duologue, or use another store"
        )
    return [step for step in steps if step.version > found]
