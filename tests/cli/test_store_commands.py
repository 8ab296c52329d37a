"""`duologue nodes`, `conversations` and `forget`, on a store in a file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import psycopg
import pytest
from click.testing import Result
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.observe.diagnostics import correlation_id
from duologue.ports.store import ServerNode, StoreWrite
from duologue.store.postgres import PostgresStore
from duologue.store.store_url import open_store
from tests.needs import private_postgres


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store with one node and one conversation."""
    url = f"sqlite://{tmp_path / 'store.sqlite3'}"

    async def fill() -> None:
        store = open_store(url)
        await store.open()
        await store.enlist(ServerNode("node-a", "instance-1", "http://127.0.0.1:8765", 1), 60_000)
        await store.claim("conversation-1", "node-a", 60_000)
        await store.close()

    asyncio.run(fill())
    return url


def run(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


def test_nodes_are_listed_with_their_conversations(url: str) -> None:
    done = run("nodes", "--store", url)
    assert done.exit_code == 0, done.output
    assert "node-a" in done.stdout
    (node,) = json.loads(run("nodes", "--store", url, "--json").stdout)["nodes"]
    assert (node["name"], node["conversations"]) == ("node-a", 1)


def test_conversations_are_listed_by_their_hashed_id_unless_ids_are_requested(url: str) -> None:
    hashed, full = run("conversations", "--store", url).stdout, run("conversations", "--store", url, "--ids").stdout
    assert correlation_id("conversation-1") in hashed
    assert "conversation-1" not in hashed
    assert "conversation-1" in full


@pytest.mark.parametrize("name", ["conversation-1", correlation_id("conversation-1")])
def test_a_conversation_is_deleted_by_either_id_and_only_once(url: str, name: str) -> None:
    done = run("forget", name, "--store", url)
    assert (done.exit_code, done.stdout) == (0, "deleted\n")
    assert run("conversations", "--store", url).stdout == "no conversation in this store\n"
    again = run("forget", name, "--store", url)
    assert isinstance(again.exception, DuologueError)
    assert "no such conversation in this store" in str(again.exception)


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    """A folder with what a conversation left, and a backup of its words."""
    folder, name = tmp_path / "journals", correlation_id("conversation-1")
    (folder / "backup").mkdir(parents=True)
    said = json.dumps({"kind": "user", "turn": 1, "text": "my account is 4711 0815", "at": 1})
    for file in (f"{name}.jsonl", f"{name}.words.jsonl", f"{name}.ears.jsonl", f"backup/{name}.words.jsonl.bak"):
        (folder / file).write_text(said + "\n")
    for file in (f"{name}.wav", f"{name}.ogg", f"{name}.opus", f"{name}-2.wav", f"backup/{name}.wav.1"):  # recordings
        (folder / file).write_bytes(b"RIFF my voice")
    (folder / "abcdefabcdef.jsonl").write_text("of another conversation")
    return folder


def test_forgetting_deletes_the_files_of_a_conversation_too(url: str, journals: Path) -> None:
    done = run("forget", "conversation-1", "--store", url, "--journals", str(journals), "--check")
    assert done.exit_code == 0, done.output
    assert "deleted, with 9 files" in done.stdout
    assert "checked: none of" in done.stdout
    assert [path.name for path in journals.rglob("*.*")] == ["abcdefabcdef.jsonl"]


def test_a_check_names_the_files_in_which_something_is_left(url: str, journals: Path) -> None:
    copied = journals / "notes.txt"
    copied.write_text("the caller said: my account is 4711 0815, call back")
    done = run("forget", "conversation-1", "--store", url, "--journals", str(journals), "--check")
    assert isinstance(done.exception, DuologueError)
    assert str(done.exception) == f"data of the conversation is still in {copied}"


GREETING = "Welcome to the flight desk. How can I help you?"


def test_sentences_of_every_conversation_are_no_trace_and_what_else_was_said_is(tmp_path: Path) -> None:
    url, folder = f"sqlite://{tmp_path / 'store.sqlite3'}", tmp_path / "journals"
    folder.mkdir()

    async def fill() -> None:
        store = open_store(url)
        await store.open()
        for number in (1, 2, 3):
            lease, _ = await store.claim(str(number) * 32, "node-a", 60_000)
            said = [["agent", 0, GREETING], ["user", 1, f"my account number is {number}711"]]
            await store.write(lease, 0, StoreWrite({"words": {"items": said}}))
            lines = "".join(json.dumps({"kind": kind, "text": text}) + "\n" for kind, _, text in said)
            (folder / f"{correlation_id(str(number) * 32)}.words.jsonl").write_text(lines)
        await store.close()

    asyncio.run(fill())
    given = ("--store", url, "--journals", str(folder), "--check")
    done = run("forget", "1" * 32, *given)
    assert done.exit_code == 0, done.exception
    (folder / "notes.txt").write_text("the caller said: my account number is 2711")
    left = run("forget", "2" * 32, *given)
    assert str(left.exception) == f"data of the conversation is still in {folder / 'notes.txt'}"


def test_a_check_alone_searches_for_the_ids_of_what_was_deleted(url: str, tmp_path: Path) -> None:
    run("forget", "conversation-1", "--store", url)
    done = run("forget", "conversation-1", "--store", url, "--check")
    assert (done.exit_code, "nothing to delete" in done.stdout) == (0, True)
    (tmp_path / "store.sqlite3.bak").write_bytes(b"... conversation-1 ...")
    left = run("forget", "conversation-1", "--store", url, "--check")
    assert "store.sqlite3.bak" in str(left.exception)


def test_an_empty_store_has_no_server(tmp_path: Path) -> None:
    assert run("nodes", "--store", f"sqlite://{tmp_path / 'empty.sqlite3'}").stdout == "no server uses this store now\n"


def test_a_check_searches_the_tables_of_a_database_server() -> None:
    """A copy of a table of the store is found by what was said."""
    said = 'my "account" in Zürich is 4711 0815'
    with private_postgres() as server:
        store = PostgresStore(server.url)

        async def fill() -> None:
            await store.open()
            for name in ("conversation-1", "conversation-2"):
                lease, _ = await store.claim(name, "node-a", 60_000)
                text = said if name == "conversation-1" else "something else entirely, of another caller"
                await store.write(lease, 0, StoreWrite({"words": [{"text": text}]}))
                await store.log(lease, ["a line"])
            await store.close()

        asyncio.run(fill())
        with psycopg.connect(server.url, autocommit=True) as link:
            link.execute("CREATE TABLE duologue.copied AS SELECT * FROM duologue.parts")
        left = run("forget", "conversation-1", "--store", server.url, "--check")
        assert str(left.exception) == "data of the conversation is still in the table copied"
        with psycopg.connect(server.url, autocommit=True) as link:
            link.execute("DROP TABLE duologue.copied")
        done = run("forget", "conversation-1", "--store", server.url, "--check")
        assert done.exit_code == 0, done.output
        assert "nothing to delete" in done.stdout
        assert run("forget", "conversation-2", "--store", server.url, "--check").exit_code == 0
