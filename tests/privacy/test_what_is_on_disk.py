"""What a conversation leaves on disk: no words if it is private, and nothing after it is deleted."""

from __future__ import annotations

import asyncio
import functools
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from duologue.observe.diagnostics import correlation_id
from duologue.store.postgres import PostgresStore
from duologue.store.sqlite import SqliteStore
from duologue.testing.postgres import PrivatePostgres
from tests.privacy.planted import (
    ANSWER,
    ARGUMENT,
    CITY,
    OUTPUT,
    PAID,
    QUESTION,
    SAID,
    SEAT,
    SPOKEN,
    TOKEN,
    TYPED,
    Keeping,
    book,
    booker,
    forms,
    found_in,
    pcm_of,
    play,
    talk,
    talker,
)
from tests.server.running_server import RunningServer

WORDS = (SPOKEN, TYPED, SAID, ARGUMENT, OUTPUT, QUESTION, ANSWER, CITY, PAID)
SCENES: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "scripted": (talker, talk, (SPOKEN, TYPED, SAID, ARGUMENT, OUTPUT, ANSWER)),
    "flows": (booker, book, (CITY, PAID)),
}
scenes = pytest.mark.parametrize("scene", list(SCENES))


@pytest.fixture
def keeping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keeping:
    """A folder for everything: SQLite's files, journals, the log, and whatever is temporary."""
    folder = tmp_path / "kept"
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    for name in ("TMPDIR", "SQLITE_TMPDIR"):
        monkeypatch.setenv(name, str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    return Keeping(folder, SqliteStore(folder / "store" / "store.sqlite3"))


@pytest.fixture
def any_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_the_search_finds_a_word_however_it_is_written(tmp_path: Path) -> None:
    for form in forms(SPOKEN):
        (tmp_path / "file").write_bytes(b"\x00\x01" + form + b"\xff")
        assert found_in([tmp_path], (SPOKEN, TYPED)) == [("file", SPOKEN)]


# -- Private


@pytest.mark.req("C-SEC-002")
@scenes
def test_a_private_conversation_leaves_no_word_on_disk(scene: str, keeping: Keeping) -> None:
    make, says, _ = SCENES[scene]
    while_it_ran: list[tuple[str, str]] = []

    def look(_: RunningServer) -> None:
        while_it_ran.extend(found_in([keeping.folder], (*WORDS, SEAT)))

    play(lambda: make(private=True), keeping, says, look)
    assert while_it_ran == []
    assert found_in([keeping.folder], (*WORDS, SEAT)) == []
    written = {file.name for file in keeping.folder.rglob("*") if file.is_file()}
    assert "store.sqlite3" in written, "it was kept, but for its words"
    assert [name for name in written if name.endswith(".jsonl")], "it has a journal"
    assert not [name for name in written if ".words." in name]


@pytest.mark.req("C-SEC-002")
def test_a_private_conversation_leaves_no_sound_on_disk(keeping: Keeping) -> None:
    played: list[bytes] = []

    def note(running: RunningServer) -> None:
        played.extend(pcm[:64] for _, _, pcm in running.clients[0].frames if len(set(pcm[:64])) > 1)

    play(lambda: talker(private=True), keeping, talk, note)
    sound = (pcm_of(SPOKEN)[:64], *played)
    for file in (path for path in keeping.folder.rglob("*") if path.is_file()):
        assert not [piece for piece in sound if piece in file.read_bytes()], file.name


@pytest.mark.req("C-SEC-002")
@scenes
def test_the_store_holds_only_the_machine_of_a_private_conversation(scene: str, keeping: Keeping) -> None:
    make, says, _ = SCENES[scene]
    rows: dict[str, list[Any]] = {}

    async def look(running: RunningServer) -> None:
        import sqlite3

        path = keeping.folder / "store" / "store.sqlite3"
        with sqlite3.connect(path) as connection:
            for table in ("parts", "receipts", "messages"):
                column = "part" if table == "parts" else "*"
                rows[table] = [row[0] for row in connection.execute(f"SELECT {column} FROM {table}")]
        connection.close()

    play(lambda: make(private=True), keeping, says, look)
    assert rows == {"parts": ["machine"], "receipts": [], "messages": []}


@pytest.mark.req("C-SEC-002")
def test_postgresql_holds_no_word_of_private_conversations(keeping: Keeping, postgres: PrivatePostgres) -> None:
    for scene, (make, says, _) in SCENES.items():
        keeping.store = PostgresStore(postgres.url, schema=f"private_{scene}")
        play(functools.partial(make, private=True), keeping, says)
    _flush(postgres)
    assert found_in([postgres.folder, keeping.folder], (*WORDS, SEAT)) == []
    make, says, words = SCENES["flows"]
    keeping.store = PostgresStore(postgres.url, schema="not_private")
    play(make, keeping, says)
    _flush(postgres)
    found = {word for _, word in found_in([postgres.folder], (*words, SEAT))}
    assert found == {*words}, "the search would have found them; a seat is stored nowhere"


def _flush(postgres: PrivatePostgres) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as link:
        link.execute("CHECKPOINT")


# -- Not private


@pytest.mark.req("C-SEC-001")
@scenes
def test_words_of_other_conversations_are_only_in_the_store_and_beside_journals(scene: str, keeping: Keeping) -> None:
    make, says, words = SCENES[scene]
    found: list[tuple[str, str]] = []
    play(make, keeping, says, lambda _: found.extend(found_in([keeping.folder], (*WORDS, SEAT))))
    assert {word for name, word in found if name.startswith("store.sqlite3")} >= {*words}
    assert not [name for name, word in found if word == SEAT]
    elsewhere = [(name, word) for name, word in found if not name.startswith("store.sqlite3")]
    assert [name for name, _ in elsewhere if not name.endswith((".words.jsonl", ".ears.jsonl"))] == []


@pytest.mark.req("C-SEC-001", "C-SEC-003")
@scenes
def test_journals_and_logs_contain_only_the_hash_of_an_id(scene: str, keeping: Keeping) -> None:
    make, says, _ = SCENES[scene]
    told = play(make, keeping, says)
    secrets = (told["conversation"], told["key"], SEAT, TOKEN)
    assert found_in([keeping.journals], secrets) == []
    assert not [word for word in secrets if word in keeping.log.read_text()]
    assert correlation_id(told["conversation"]) in keeping.log.read_text()
    names = [path.name for path in keeping.journals.iterdir()]
    assert names
    assert not [name for name in names if told["conversation"] in name]


@pytest.mark.req("C-SEC-002")
@scenes
def test_a_forgotten_conversation_is_in_no_byte_of_the_store(scene: str, keeping: Keeping) -> None:
    from typer.testing import CliRunner

    from duologue.cli.app import app

    make, says, words = SCENES[scene]
    told = play(make, keeping, says)
    folder = keeping.folder / "store"
    assert found_in([folder], words), "they were there"
    url = f"sqlite://{folder / 'store.sqlite3'}"
    answer = CliRunner().invoke(app, ["forget", told["conversation"], "--store", url])
    assert answer.exit_code == 0, answer.output
    assert found_in([folder], (*WORDS, SEAT, told["conversation"], told["key"])) == []


@pytest.mark.req("C-SEC-002")
def test_old_ended_conversations_are_deleted_with_their_words(keeping: Keeping) -> None:
    told = play(talker, keeping, talk)
    path = keeping.folder / "store" / "store.sqlite3"

    async def sweep(older_than_ms: int) -> int:
        store = SqliteStore(path)
        await store.open()
        try:
            return await store.sweep(older_than_ms)
        finally:
            await store.close()

    assert asyncio.run(sweep(86_400_000)) == 0
    assert found_in([path.parent], (TYPED,)), "a day has not gone by"
    assert asyncio.run(sweep(0)) == 1
    assert found_in([path.parent], (*WORDS, SEAT, told["conversation"])) == []


# -- Who may read it


@pytest.mark.req("C-SEC-002")
@pytest.mark.usefixtures("any_umask")
def test_files_are_readable_only_by_their_owner_whatever_the_umask(keeping: Keeping) -> None:
    modes: dict[str, int] = {}

    def look(_: RunningServer) -> None:
        for path in keeping.folder.rglob("*"):
            modes[str(path.relative_to(keeping.folder))] = stat.S_IMODE(path.stat().st_mode)

    play(talker, keeping, talk, look)
    kept = {name: mode for name, mode in modes.items() if name.split("/")[0] in ("store", "journals")}
    assert {"store", "store/store.sqlite3", "store/store.sqlite3-wal", "journals"} <= set(kept)
    assert not {name: oct(mode) for name, mode in kept.items() if mode & 0o077}
