"""`duologue nodes`, `conversations` and `forget`, on a store in a file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.observe.diagnostics import correlation_id
from duologue.ports.store import ServerNode
from duologue.store.store_url import open_store


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


def test_an_empty_store_has_no_server(tmp_path: Path) -> None:
    assert run("nodes", "--store", f"sqlite://{tmp_path / 'empty.sqlite3'}").stdout == "no server uses this store now\n"


def test_forgetting_a_conversation_deletes_its_recordings_too(url: str, tmp_path: Path) -> None:
    name = correlation_id("conversation-1")
    for file in (f"{name}.wav", f"{name}-2.wav", "other.wav"):
        (tmp_path / file).write_bytes(b"")
    assert run("forget", name, "--store", url, "--recordings", str(tmp_path)).exit_code == 0
    assert [path.name for path in tmp_path.glob("*.wav")] == ["other.wav"]
