"""A store in one SQLite file, for any number of processes on one machine.

The file uses a write-ahead log (WAL) and is flushed to disk at every commit. So after a write has returned, its data
survives not only a crash, but also a power cut. Deleted data is overwritten. Rule: only the file's owner can read the
file, and SQLite never runs in the event loop.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from duologue.ports.store import StoreFailed, Unsure

from .schema import STEPS, MigrationStep, missing
from .sql_operations import SQLITE, Script
from .sql_store import SqlStore, TransactionKind
from .sqlite_thread import SqliteThread
from .wall_clock import Clock, boot_id, counter_ms, from_moment, wall_ms

T = TypeVar("T")
APPLICATION_ID = 0x44554F4C  # "DUOL"
BUSY_MS_MAX = 5_000
OPENING_WAITS_S = (0.01, 0.03, 0.1, 0.3, 0.5)  # before each further attempt to open a file that others set up
PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_MS_MAX}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # NORMAL may lose the last commits in a power cut
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 16777216",
)
# What SQLite's result codes mean, and what to do.
TROUBLES = {
    sqlite3.SQLITE_FULL: "the disk is full, nothing was written; free some space",
    sqlite3.SQLITE_READONLY: "the file isn't writable; check the permissions of the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "the file can't be opened; check the path and the permissions of its folder",
    sqlite3.SQLITE_PERM: "the file can't be opened; check its permissions",
    sqlite3.SQLITE_BUSY: f"another process has locked the file for {BUSY_MS_MAX // 1000} s, nothing was written; "
    "try again, or stop that process",
    sqlite3.SQLITE_NOTADB: "the file isn't an SQLite database; choose another path, or move that file away",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a backup, or move it away to start empty",
    sqlite3.SQLITE_IOERR: "the disk failed, so the outcome of the write is unknown; check the disk, then retry the "
    "write unchanged",
    sqlite3.SQLITE_TOOBIG: "the data is too large for one row of SQLite, nothing was written; write smaller parts",
}


def default_path() -> Path:
    """The path that is used if the user chooses no path: a file in the user's data folder."""
    data = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser()
    if not data.is_absolute():  # the XDG specification says to ignore relative paths
        data = Path("~/.local/share").expanduser()
    return data / "duologue" / "store.sqlite3"


class SqliteStore(SqlStore):
    """A store in an SQLite file. `clock` is only for tests. It returns milliseconds, and all stores that use the same
    file must have the same clock."""

    dialect = SQLITE

    def __init__(
        self, path: Path | str | None = None, *, clock: Clock | None = None, steps: Sequence[MigrationStep] = STEPS
    ) -> None:
        self.path = Path(path).expanduser().absolute() if path else default_path()
        self._clock, self._steps = clock, steps
        self._thread: SqliteThread | None = None

    async def open(self) -> None:
        """Open the file, creating it if necessary, and bring its schema up to date."""
        assert self._thread is None, "the store is already open"
        thread = SqliteThread(self._connect, self.explain)
        await thread.open()
        self._thread = thread

    async def close(self) -> None:
        """Close the file. Does nothing if the store isn't open."""
        thread, self._thread = self._thread, None
        if thread:
            await thread.close()

    async def run(
        self,
        make: Callable[[], Script[T]],
        *,
        conversation: str = "",
        again: bool = True,  # noqa: ARG002 (there is no connection that could be lost)
        kind: TransactionKind = TransactionKind.TRANSACTION,  # noqa: ARG002 (scripts that wait together share a transaction)
    ) -> T:
        return await self._opened().script(make, conversation)

    async def forget(self, conversation: str) -> bool:
        found = await super().forget(conversation)
        await self._opened().alone(self._empty_log)
        return found

    async def sweep(self, older_than_ms: int) -> int:
        swept = await super().sweep(older_than_ms)
        if swept:
            await self._opened().alone(self._empty_log)
        return swept

    async def with_connection(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on the connection, in the connection's thread and outside any transaction. Meant for
        maintenance."""
        return await self._opened().alone(work)

    @property
    def commits(self) -> int:
        """How many transactions were committed since the store was opened."""
        return self._opened().commits

    def _opened(self) -> SqliteThread:
        if self._thread is None:
            raise StoreFailed(f"{self.path}: the store isn't open; call open() first")
        return self._thread

    # -- In the thread

    def _connect(self) -> sqlite3.Connection:
        """Open the file. If other processes are setting up the same new file, SQLite fails immediately instead of
        waiting. So the attempt is repeated."""
        for wait_s in OPENING_WAITS_S:
            try:
                return self._connect_once()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
            time.sleep(wait_s)
        return self._connect_once()

    def _connect_once(self) -> sqlite3.Connection:
        make_private(self.path)
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=BUSY_MS_MAX / 1000)
        try:
            for pragma in PRAGMAS:
                connection.execute(pragma).fetchall()
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Bring the schema up to date and set up the clock, in one transaction."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = self._version(connection)
            for step in missing(found, self._steps, str(self.path)):
                for statement in step.sqlite:
                    connection.execute(statement)
                connection.execute("INSERT INTO schema_versions VALUES (?, ?)", (step.version, wall_ms()))
            clock = self._clock or _shared_clock(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.create_function("now_ms", 0, clock)

    def _version(self, connection: sqlite3.Connection) -> int:
        ((application,),) = connection.execute("PRAGMA application_id").fetchall()
        ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        if tables and application != APPLICATION_ID:
            raise StoreFailed(f"{self.path} is the database of another program; choose another path")
        if not tables:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, applied_ms BIGINT NOT NULL)")
            connection.execute("CREATE TABLE clock (boot TEXT PRIMARY KEY, boot_ms BIGINT NOT NULL)")
        ((version,),) = connection.execute("SELECT coalesce(max(version), 0) FROM schema_versions").fetchall()
        return int(version)

    def _empty_log(self, connection: sqlite3.Connection) -> None:
        """Empty the write-ahead log. Otherwise it would still contain deleted data, although that data was overwritten
        in the main file."""
        ((is_busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if is_busy:
            raise StoreFailed(
                f"{self.path}: the conversation data was deleted, but a copy is still in the file ending in -wal, "
                "because another process is reading; repeat the deletion later"
            )

    def explain(self, error: sqlite3.Error) -> StoreFailed:
        """Convert an error from SQLite to one line that says what to do. SQLite's own message isn't quoted."""
        code = getattr(error, "sqlite_errorcode", None)
        trouble = TROUBLES.get(code & 0xFF) if code is not None else None
        # After a failed flush, the data may still have reached the disk.
        kind = Unsure if code is not None and code & 0xFF == sqlite3.SQLITE_IOERR else StoreFailed
        return kind(f"{self.path}: {trouble or f'SQLite failed ({type(error).__name__})'}")


def _shared_clock(connection: sqlite3.Connection) -> Clock:
    """The clock that all processes with this file share. The first process after a boot of the machine stores the time
    of the boot in the file, and the others use that time. On a system without boot ids, the clock is simply the time of
    day."""
    boot = boot_id()
    if not boot:
        return wall_ms
    connection.execute("DELETE FROM clock WHERE boot <> ?", (boot,))
    connection.execute("INSERT INTO clock VALUES (?, ?) ON CONFLICT DO NOTHING", (boot, wall_ms() - counter_ms()))
    ((boot_ms,),) = connection.execute("SELECT boot_ms FROM clock").fetchall()
    return from_moment(boot_ms)


def make_private(path: Path) -> None:
    """Make sure that only the owner can read the file at this path. A file that doesn't exist is created, in a folder
    that is created if necessary and that only its owner can read. For an existing file, the permissions are changed if
    the file belongs to this user."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            # Check by path. Opening and closing the file here would release this process's SQLite locks on it.
            if path.is_dir():
                raise StoreFailed(f"{path} is a folder; use the path of a file") from None
            if os.name == "posix" and path.stat().st_mode & 0o077 and path.stat().st_uid == os.geteuid():
                path.chmod(0o600)
    except OSError as error:
        raise StoreFailed(f"{path}: {error.strerror or error}; choose a writable path") from None
