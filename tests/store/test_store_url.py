"""The address decides which store is made, and errors never show a password."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from duologue.ports.store import StoreFailed
from duologue.store.memory import MemoryStore
from duologue.store.postgres import PostgresStore
from duologue.store.sqlite import SqliteStore, default_path
from duologue.store.store_url import open_store


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///var/lib/calls.db", "/var/lib/calls.db"),
        ("sqlite:/var/lib/calls.db", "/var/lib/calls.db"),
        ("sqlite:///var/my%20calls.db", "/var/my calls.db"),
        ("SQLite:///a", "/a"),
        ("/var/lib/calls.db", "/var/lib/calls.db"),
        ("/var/lib/odd:name", "/var/lib/odd:name"),
        ("sqlite:", str(default_path())),
    ],
)
def test_a_path_is_an_sqlite_file(url: str, path: str) -> None:
    store = open_store(url)
    assert isinstance(store, SqliteStore)
    assert str(store.path) == path


def test_memory_and_postgresql() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)
    assert isinstance(open_store("postgresql://alice:s3cret@host/db"), PostgresStore)
    assert isinstance(open_store("postgres://host/db"), PostgresStore)


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (
            "mysql://root:s3cret@host/db",
            "there is no store for addresses with mysql:; use memory:, sqlite:, a path or postgresql://…",
        ),
        ("https://host/?key=s3cret", "there is no store for addresses with https:"),
        ("sqlite://s3cret", "needs a third slash"),
        ("sqlite::memory:", "use memory:"),
        ("memory:s3cret", "must have nothing after the colon"),
        ("", "the address of the store is empty"),
        ("  ", "the address of the store is empty"),
        ("postgresql://alice:s3cret@host/db?nonsense=1", "not an address of a PostgreSQL server"),
    ],
)
def test_any_other_address_is_rejected_without_showing_its_secrets(url: str, reason: str) -> None:
    with pytest.raises(StoreFailed) as refused:
        open_store(url)
    assert reason in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_without_psycopg_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "psycopg":
            raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")
        return real(name, *rest)

    for name in [name for name in sys.modules if name.startswith("duologue.store.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(StoreFailed, match=r"pip install 'duologue\[postgres\]'"):
        open_store("postgresql://host/db")
