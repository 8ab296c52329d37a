"""`duologue serve` with a store that can't be used: one line that says what to do, exit 1, and no secret in it."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from duologue.cli import app
from duologue.ports.store import ServerNode
from duologue.store.sqlite import APPLICATION_ID, SqliteStore
from duologue.testing.postgres import PrivatePostgres
from tests.limits import WAIT_S

SECRET = "s3cret-of-the-store"
AGENT = """
from duologue import Agent
from duologue.testing import ScriptedBrain, ScriptedVoice

kept_agent = Agent(ScriptedBrain(lambda request: "Yes."), voice=ScriptedVoice())
"""
ENVIRONMENT = {
    "OPENAI_API_KEY": "planted-openai-key-4711",
    "TWILIO_AUTH_TOKEN": "planted-twilio-token-4712",
    "TELNYX_API_KEY": "planted-telnyx-key-4713",
    "PGPASSWORD": "planted-pg-password-4714",
    "DUOLOGUE_TOKEN": "planted-server-token-4715",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kept_agent_module.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def serve_here(
    store: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *more: str
) -> tuple[int, str]:
    """The command in this process: its exit code, and all that it said."""
    arguments = ["duologue", "serve", "kept_agent_module:kept_agent", "--port", "0", "--store", store, *more]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit) as ended:
        app.main()
    said = "".join(capfd.readouterr())
    return int(ended.value.code or 0), said


def check_refusal(code: int, said: str, told: str) -> None:
    assert code == 1, said
    assert re.search(told, said), said
    assert said.count("error:") == 1
    assert len(said.strip().splitlines()) == 1, said
    assert "Traceback" not in said
    for secret in (SECRET, *ENVIRONMENT.values()):
        assert secret not in said


# -- Files


def a_folder(path: Path) -> str:
    path.mkdir()
    return str(path)


def not_a_database(path: Path) -> str:
    path.write_bytes(b"something else entirely" * 400)
    return str(path)


def another_program(path: Path) -> str:
    link = sqlite3.connect(path)
    link.execute("CREATE TABLE recipes (name TEXT)")
    link.commit()
    link.close()
    return str(path)


def newer_schema(path: Path) -> str:
    link = sqlite3.connect(path)
    link.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    link.execute("CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, applied_ms BIGINT NOT NULL)")
    link.execute("INSERT INTO schema_versions VALUES (999, 0)")
    link.commit()
    link.close()
    return str(path)


def damaged(path: Path) -> str:
    """A store of ours, with rubbish in place of a page."""

    async def make() -> None:
        store = SqliteStore(path)
        await store.open()
        for number in range(50):
            await store.claim(f"conversation {number}", "node", 1)
        await store.close()

    asyncio.run(make())
    data = bytearray(path.read_bytes())
    data[4096 : len(data)] = os.urandom(len(data) - 4096)
    path.write_bytes(data)
    return str(path)


def no_folder_can_be(path: Path) -> str:
    path.write_text("a file")
    return str(path / "below" / "store.sqlite3")


def read_only(path: Path) -> str:
    return "/proc/duologue/store.sqlite3"  # for root, too


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (a_folder, "is a folder; use the path of a file"),
        (not_a_database, "the file isn't an SQLite database; choose another path"),
        (another_program, "is the database of another program; choose another path"),
        (newer_schema, "has schema version 999, but this version of Duologue supports at most 1: upgrade Duologue"),
        (damaged, "the file is damaged; restore a backup"),
        (no_folder_can_be, "choose a writable path"),
        (read_only, "choose a writable path"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported_in_one_line(
    make: Callable[[Path], str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    check_refusal(*serve_here(make(tmp_path / "store.sqlite3"), monkeypatch, capfd), told)


def test_a_second_node_with_the_same_name_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "store.sqlite3"

    async def enlist() -> None:
        store = SqliteStore(path)
        await store.open()
        await store.enlist(ServerNode("twin", "another", "", 0), 60_000)
        await store.close()

    asyncio.run(enlist())
    code, said = serve_here(str(path), monkeypatch, capfd, "--node", "twin", "--workers", "1")
    check_refusal(code, said, "another node named 'twin' is alive: give each node its own name")


# -- PostgreSQL


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize(
    ("url", "told"),
    [
        (f"postgresql://alice:{SECRET}@127.0.0.1:PORT/db", "PostgreSQL at 127.0.0.1:.*can't be reached; check that"),
        (f"postgresql://alice:{SECRET}@no.such.host.invalid/db", "unknown host name; check the address"),
        (f"postgresql://alice:{SECRET}@host/db?nonsense=1", "not an address of a PostgreSQL server"),
        (f"mysql://alice:{SECRET}@host/db", "there is no store for addresses with mysql:"),
        (f"sqlite://{SECRET}", "sqlite:// needs a third slash"),
    ],
)
def test_an_unreachable_address_is_reported_without_its_secrets(
    url: str, told: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    check_refusal(*serve_here(url.replace("PORT", str(free_port())), monkeypatch, capfd), told)


@pytest.mark.req("C-SEC-003")
def test_a_wrong_password_and_a_wrong_database_have_different_messages(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], postgres: PrivatePostgres
) -> None:
    wrong = postgres.tcp_url.replace(postgres.password, SECRET)
    check_refusal(*serve_here(wrong, monkeypatch, capfd), "wrong user or password")
    nowhere = postgres.tcp_url.replace("/postgres", "/nowhere")
    code, said = serve_here(nowhere, monkeypatch, capfd)
    check_refusal(code, said, "no such database")
    assert postgres.password not in said


# -- As a process


@pytest.mark.parametrize(("store", "told"), [("store.sqlite3", "the disk|nothing was written|SQLite failed")])
def test_a_full_disk_is_reported_in_one_line(tmp_path: Path, store: str, told: str) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))

    command = [sys.executable, "-B", "-c", "from duologue.cli.entry import main; main()", "serve"]
    done = subprocess.run(
        [*command, "kept_agent_module:kept_agent", "--port", "0", "--store", store],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
        preexec_fn=no_room,
        env={**os.environ, "COLUMNS": "300", "NO_COLOR": "1"},
    )
    check_refusal(done.returncode, done.stdout + done.stderr, told)
