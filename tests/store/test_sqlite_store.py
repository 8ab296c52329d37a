"""The file: private, durable, honest about what is wrong with it, and empty of what was forgotten."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from duologue.ports.store import Fenced, OutboxMessage, StoreFailed, StoreWrite, Unsure
from duologue.store import wall_clock
from duologue.store.schema import STEPS, TABLES, MigrationStep
from duologue.store.sqlite import TROUBLES, SqliteStore, default_path
from tests.store.store_places import TTL_MS, SqlitePlace, claimed, written

SECRET = "the words that nobody else may read"


async def opening(store: SqliteStore) -> str:
    """What it says when it can't be opened."""
    with pytest.raises(StoreFailed) as told:
        await store.open()
    assert "\n" not in str(told.value)
    return str(told.value)


# -- Privacy


@pytest.mark.req("C-SEC-002")
async def test_the_files_can_be_read_by_their_owner_alone(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    await written(store, await claimed(store), 0, words=SECRET)
    folder = sqlite.path.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = list(folder.iterdir())
    assert len(files) == 3  # the file, its log and its index
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


async def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    path.touch(0o644)
    store = SqliteStore(path)
    await store.open()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await store.close()


def bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


@pytest.mark.req("C-SEC-002")
@pytest.mark.parametrize("how", ["forget", "sweep"])
async def test_no_byte_of_what_was_forgotten_is_left_in_the_files(sqlite: SqlitePlace, how: str) -> None:
    store = await sqlite.store()
    for name in ("call", "other"):
        lease = await claimed(store, name)
        said = SECRET if name == "call" else "something else"
        for revision in range(30):  # old versions count too, and rows too large for a page
            parts = {"words": [f"{said} {revision}"] * (1 + revision * 20)}
            await store.write(
                lease, revision, StoreWrite(parts, messages=[OutboxMessage("t", said)], done=[(f"k{revision}", said)])
            )
            await store.log(lease, [said])
        if name == "call":
            await store.write(lease, 30, StoreWrite({}, is_over=True))
    assert SECRET.encode() in bytes_of(sqlite.path)
    assert await store.forget("call") if how == "forget" else await store.sweep(0) == 1
    left = bytes_of(sqlite.path)
    assert SECRET.encode() not in left
    assert b"something else" in left
    other = await store.read("other")
    assert other is not None
    assert other.revision == 30


async def test_who_still_reads_while_something_is_forgotten_is_told_of(
    sqlite: SqlitePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.store.sqlite.PRAGMAS", ("PRAGMA busy_timeout = 1", "PRAGMA journal_mode = WAL"))
    store = await sqlite.store()
    await written(store, await claimed(store), 0, words=SECRET)
    reader = sqlite3.connect(sqlite.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM parts").fetchall()
    with pytest.raises(StoreFailed, match="deleted, but another process is reading"):
        await store.forget("call")
    reader.execute("COMMIT")
    reader.close()
    await store.forget("call")
    assert not Path(f"{sqlite.path}-wal").read_bytes()


async def test_every_table_that_knows_conversations_is_forgotten_from(sqlite: SqlitePlace) -> None:
    await sqlite.store()
    tables = await sqlite.run_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    found = set()
    for (table,) in tables:
        columns = await sqlite.run_sql(f"SELECT name FROM pragma_table_info('{table}')")
        if ("conversation",) in columns:
            found.add(table)
    assert found == set(TABLES)


# -- Durability

WRITER = """
import asyncio, sys
from duologue.ports.store import StoreWrite
from duologue.store.sqlite import SqliteStore

async def main():
    store = SqliteStore(sys.argv[1])
    await store.open()
    lease, kept = await store.claim("call", "writer", 60_000, force=True)
    revision = kept.revision
    while True:
        write = StoreWrite({"a": revision, "b": [revision] * 500}, done=[(f"k{revision}", 1)])
        revision = await store.write(lease, revision, write)
        print(revision, flush=True)

asyncio.run(main())
"""


@pytest.mark.req("D-13", "D-14")
async def test_a_writer_that_is_killed_loses_nothing_that_it_was_told(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    told = 0
    for kills in range(1, 4):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout
        for _ in range(40):
            told = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        told = max([told, *map(int, rest[: rest.rfind("\n") + 1].split())])
        store = SqliteStore(path)
        await store.open()
        kept = await store.read("call")
        assert kept is not None
        assert told <= kept.revision <= told + 1, kills
        assert kept.parts["a"] == kept.revision - 1
        assert kept.parts["b"] == [kept.revision - 1] * 500
        with pytest.raises(Fenced):
            await store.write(
                (await claimed(store, node="b", force=True)), kept.revision, StoreWrite({}, done=[("k0", 2)])
            )
        await store.close()
    checked = sqlite3.connect(path)
    assert checked.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    checked.close()


async def test_every_commit_is_flushed_and_the_event_loop_never_waits(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    assert isinstance(store, SqliteStore)

    def settings(connection: sqlite3.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "secure_delete")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await store.with_connection(settings) == ["wal", 2, 1]
    # Another process keeps the file locked; meanwhile the loop does something else.
    blocker = sqlite3.connect(sqlite.path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(claimed(store))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not writing.done()
    blocker.execute("COMMIT")
    blocker.close()
    assert (await writing).conversation == "call"


async def test_scripts_that_wait_together_share_a_commit_and_not_their_errors(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    assert isinstance(store, SqliteStore)
    leases = [await claimed(store, f"call {n}") for n in range(40)]
    before = store.commits
    outcomes = await asyncio.gather(
        *(written(store, lease, n % 2, machine=n) for n, lease in enumerate(leases)), return_exceptions=True
    )
    assert outcomes[::2] == [1] * 20
    assert all(isinstance(outcome, Fenced) for outcome in outcomes[1::2])
    assert store.commits - before < 40


# -- What can be wrong with it


async def test_a_full_disk_is_told_and_afterwards_everything_works(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    assert isinstance(store, SqliteStore)
    lease = await claimed(store)
    others = [await claimed(store, f"small {n}") for n in range(5)]
    await written(store, lease, 0, words="before")
    pages = await store.with_connection(lambda link: link.execute("PRAGMA page_count").fetchone()[0])
    await store.with_connection(lambda link: link.execute(f"PRAGMA max_page_count = {pages + 2}").fetchall())
    large, *small = await asyncio.gather(
        written(store, lease, 1, words="x" * 100_000),
        *(written(store, other, 0, machine=1) for other in others),
        return_exceptions=True,
    )
    assert isinstance(large, StoreFailed)
    assert "the disk is full, nothing was written; free some space" in str(large)
    assert small == [1] * 5  # they fit, and waited beside one that didn't
    kept = await store.read("call")
    assert kept is not None
    assert (kept.revision, kept.parts["words"]) == (1, "before")
    await store.with_connection(lambda link: link.execute("PRAGMA max_page_count = 1073741823").fetchall())
    assert await written(store, lease, 1, words="x" * 100_000) == 2


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam,\n" * 100, encoding="utf-8")
    assert "the file isn't an SQLite database" in await opening(SqliteStore(path))
    assert path.read_text(encoding="utf-8").startswith("Dear Sir")


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE accounts (id)")
    theirs.close()
    assert "the database of another program" in await opening(SqliteStore(path))


async def test_a_damaged_file_is_told(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    lease = await claimed(store)
    for revision in range(20):
        await written(store, lease, revision, **{f"part{revision}": "x" * 5_000})
    await store.close()
    whole = sqlite.path.read_bytes()
    sqlite.path.write_bytes(whole[:4096] + os.urandom(len(whole) - 4096))
    told = await opening(SqliteStore(sqlite.path))
    assert "restore a backup" in told or "isn't an SQLite database" in told


@pytest.mark.parametrize("content", ["{", "", "nonsense", "[1,"])
async def test_a_damaged_row_is_an_error_of_its_conversation_alone(sqlite: SqlitePlace, content: str) -> None:
    store = await sqlite.store()
    for name in ("broken", "fine"):
        await written(store, await claimed(store, name), 0, words=1)
    await sqlite.run_sql(f"UPDATE parts SET content = '{content}' WHERE conversation = 'broken'")
    for attempt in (store.read("broken"), store.claim("broken", "a", TTL_MS)):
        with pytest.raises(StoreFailed, match="part 'words' of conversation 'broken' can't be read"):
            await attempt
    fine = await store.read("fine")
    assert fine is not None
    assert dict(fine.parts) == {"words": 1}
    assert await store.forget("broken")


@pytest.mark.parametrize("path", ["/proc/nowhere/store", "/dev/null/store"])
async def test_a_folder_that_cant_be_made_is_told(path: str) -> None:
    assert "choose a writable path" in await opening(SqliteStore(path))


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert "is a folder; use the path of a file" in await opening(SqliteStore(tmp_path))


async def test_a_folder_or_a_file_that_cant_be_written_is_told() -> None:
    with tempfile.TemporaryDirectory(prefix="duologue-") as folder:
        os.chmod(folder, 0o555)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)  # root may write anywhere
        try:
            assert "Permission denied; choose a writable path" in await opening(SqliteStore(Path(folder, "store")))
        finally:
            if is_root:
                os.seteuid(0)
        os.chmod(folder, 0o755)


async def test_a_file_that_somebody_keeps_locked_is_told(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    assert isinstance(store, SqliteStore)
    await store.with_connection(lambda link: link.execute("PRAGMA busy_timeout = 1").fetchall())
    blocker = sqlite3.connect(sqlite.path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreFailed, match="another process has locked the file"):
        await claimed(store)
    blocker.execute("ROLLBACK")
    blocker.close()
    await claimed(store)


def test_every_trouble_of_sqlite_says_what_to_do(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store")
    for code in (*TROUBLES, 999):
        error = sqlite3.OperationalError("secret words of SQLite")
        error.sqlite_errorcode = code | 0x100  # a detail of it
        told = store.explain(error)
        assert "secret" not in str(told)
        assert isinstance(told, Unsure) == (code == sqlite3.SQLITE_IOERR)  # a flush that failed may have arrived


async def test_a_store_that_is_not_open_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store")
    with pytest.raises(StoreFailed, match="isn't open"):
        await store.read("call")
    await store.close()


async def test_processes_that_open_a_new_file_at_once_agree(tmp_path: Path) -> None:
    stores = [SqliteStore(tmp_path / "store") for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    epochs = {(await claimed(store)).epoch for store in stores}
    assert len(epochs) == 6
    for store in stores:
        await store.close()


# -- Versions

MORE = (
    *STEPS,
    MigrationStep(2, ["ALTER TABLE parts ADD COLUMN extra TEXT"], []),
    MigrationStep(3, ["CREATE TABLE three (x)"], []),
)


@pytest.mark.req("D-13")
async def test_an_older_file_is_brought_up_to_date_and_keeps_what_it_has(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    await written(store, await claimed(store), 0, words=1)
    newer = SqliteStore(sqlite.path, steps=MORE)
    await newer.open()
    kept = await newer.read("call")
    assert kept is not None
    assert dict(kept.parts) == {"words": 1}
    await newer.close()
    assert await sqlite.run_sql("SELECT version FROM schema_versions") == [(1,), (2,), (3,)]


@pytest.mark.req("D-13")
async def test_a_newer_file_is_refused_with_both_versions(sqlite: SqlitePlace) -> None:
    newer = SqliteStore(sqlite.path, steps=MORE)
    await newer.open()
    await newer.close()
    told = await opening(SqliteStore(sqlite.path))
    assert "has schema version 3, but this Duologue supports up to 1: upgrade Duologue" in told


@pytest.mark.req("D-13")
async def test_steps_are_taken_all_or_none(sqlite: SqlitePlace) -> None:
    await sqlite.store()
    broken = (*MORE, MigrationStep(4, ["CREATE TABLE four (x)", "ALTER TABLE nowhere ADD COLUMN x"], []))
    await opening(SqliteStore(sqlite.path, steps=broken))
    assert await sqlite.run_sql("SELECT max(version) FROM schema_versions") == [(1,)]
    assert await sqlite.run_sql("SELECT name FROM sqlite_master WHERE name IN ('three', 'four')") == []


# -- The clock and the place


async def test_whoever_sets_the_clock_of_the_machine_ends_no_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not wall_clock.boot_id():
        pytest.skip("this system doesn't tell its boot")
    one, two = SqliteStore(tmp_path / "store"), SqliteStore(tmp_path / "store")
    await one.open()
    await claimed(one)
    later_ms = wall_clock.wall_ms() + 3_600_000
    monkeypatch.setattr("duologue.store.sqlite.wall_ms", lambda: later_ms)  # an hour on
    await two.open()
    (held,) = await two.holdings(1)
    assert 0 < held.expires_ms <= TTL_MS
    for store in (one, two):
        await store.close()


async def test_after_a_restart_of_the_machine_the_clock_goes_by_the_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "store")
    await store.open()
    await claimed(store)
    await store.close()
    later_ms = wall_clock.wall_ms() + 60_000
    monkeypatch.setattr("duologue.store.sqlite.boot_id", lambda: "another boot")
    monkeypatch.setattr("duologue.store.sqlite.wall_ms", lambda: later_ms)
    again = SqliteStore(tmp_path / "store")
    await again.open()
    assert list(await again.orphans(1)) == ["call"]
    await again.close()


async def test_a_system_that_does_not_tell_its_boot_goes_by_the_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.store.sqlite.boot_id", lambda: "")
    store = SqliteStore(tmp_path / "store")
    await store.open()
    await claimed(store)
    (held,) = await store.holdings(1)
    assert 0 < held.expires_ms <= TTL_MS
    await store.close()


def test_the_default_place_is_in_the_users_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    for told, expected in (
        ("/data", "/data/duologue/store.sqlite3"),
        ("not/absolute", "/home/somebody/.local/share/duologue/store.sqlite3"),
        ("", "/home/somebody/.local/share/duologue/store.sqlite3"),
    ):
        monkeypatch.setenv("XDG_DATA_HOME", told)
        assert str(default_path()) == expected
