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
from duologue.store.sqlite import TROUBLES, SqliteStore, default_path
from tests.store.failed_openings import opening
from tests.store.store_places import TTL_MS, SqlitePlace, claimed, written

SECRET = "the words that only their owner may read"

# -- Privacy


@pytest.mark.req("C-SEC-002")
async def test_only_the_owner_can_read_the_files(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    await written(store, await claimed(store), 0, words=SECRET)
    folder = sqlite.path.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = list(folder.iterdir())
    assert len(files) == 3  # the file, its log and its index
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


async def test_a_file_that_others_could_read_becomes_private(tmp_path: Path) -> None:
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
async def test_no_byte_of_a_forgotten_conversation_is_left_in_the_files(sqlite: SqlitePlace, how: str) -> None:
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


async def test_another_reader_during_forgetting_is_reported(
    sqlite: SqlitePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.store.sqlite.PRAGMAS", ("PRAGMA busy_timeout = 1", "PRAGMA journal_mode = WAL"))
    store = await sqlite.store()
    await written(store, await claimed(store), 0, words=SECRET)
    reader = sqlite3.connect(sqlite.path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM parts").fetchall()
    with pytest.raises(StoreFailed, match="deleted, but a copy is still in the file ending in -wal"):
        await store.forget("call")
    reader.execute("COMMIT")
    reader.close()
    await store.forget("call")
    assert not Path(f"{sqlite.path}-wal").read_bytes()


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
async def test_a_killed_writer_loses_no_confirmed_write(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    confirmed = 0
    for kills in range(1, 4):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout
        for _ in range(40):
            confirmed = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        confirmed = max([confirmed, *map(int, rest[: rest.rfind("\n") + 1].split())])
        store = SqliteStore(path)
        await store.open()
        kept = await store.read("call")
        assert kept is not None
        assert confirmed <= kept.revision <= confirmed + 1, kills
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


async def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
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


async def test_a_damaged_file_is_reported(sqlite: SqlitePlace) -> None:
    store = await sqlite.store()
    lease = await claimed(store)
    for revision in range(20):
        await written(store, lease, revision, **{f"part{revision}": "x" * 5_000})
    await store.close()
    whole = sqlite.path.read_bytes()
    sqlite.path.write_bytes(whole[:4096] + os.urandom(len(whole) - 4096))
    message = await opening(SqliteStore(sqlite.path))
    assert "restore a backup" in message or "isn't an SQLite database" in message


@pytest.mark.parametrize("content", ["{", "", "nonsense", "[1,"])
async def test_a_damaged_row_affects_only_its_conversation(sqlite: SqlitePlace, content: str) -> None:
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
async def test_a_folder_that_cannot_be_created_is_reported(path: str) -> None:
    assert "choose a writable path" in await opening(SqliteStore(path))


async def test_a_folder_instead_of_a_file_is_reported(tmp_path: Path) -> None:
    assert "is a folder; use the path of a file" in await opening(SqliteStore(tmp_path))


async def test_a_folder_or_file_that_is_not_writable_is_reported() -> None:
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


async def test_a_file_locked_by_another_process_is_reported(sqlite: SqlitePlace) -> None:
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


def test_every_error_of_sqlite_says_what_to_do(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store")
    for code in (*TROUBLES, 999):
        error = sqlite3.OperationalError("secret words of SQLite")
        error.sqlite_errorcode = code | 0x100  # a detail of it
        explained = store.explain(error)
        assert "secret" not in str(explained)
        assert isinstance(explained, Unsure) == (code == sqlite3.SQLITE_IOERR)  # a flush that failed may have arrived


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


def test_the_default_path_is_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/user")
    for setting, expected in (
        ("/data", "/data/duologue/store.sqlite3"),
        ("not/absolute", "/home/user/.local/share/duologue/store.sqlite3"),
        ("", "/home/user/.local/share/duologue/store.sqlite3"),
    ):
        monkeypatch.setenv("XDG_DATA_HOME", setting)
        assert str(default_path()) == expected
