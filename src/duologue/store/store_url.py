"""Creates the store for an address: memory:, sqlite:, sqlite:///path, a bare path or postgresql://…

Rule: an address may contain a password, so an error shows only the scheme, such as "mysql:".
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from duologue.ports.store import Store, StoreFailed

from .memory import MemoryStore
from .sqlite import SqliteStore

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)  # a single letter is a Windows drive


def open_store(url: str) -> Store:
    """Create the store for this address. The caller opens it with `await store.open()`."""
    if not url.strip():
        raise StoreFailed("the address of the store is empty; use memory:, sqlite:, a path or postgresql://…")
    found = _SCHEME.fullmatch(url)
    if not found:
        return SqliteStore(url)
    scheme, rest = found.group(1).lower(), found.group(2)
    if scheme == "memory" and not rest:
        return MemoryStore()
    if scheme == "sqlite":
        return SqliteStore(_path(rest))
    if scheme in ("postgresql", "postgres"):
        return _postgres(url)
    if scheme == "memory":
        raise StoreFailed("memory: must have nothing after the colon")
    raise StoreFailed(f"there is no store for addresses with {scheme}:; use memory:, sqlite:, a path or postgresql://…")


def _path(rest: str) -> str | None:
    """The path of the SQLite file, given the text after `sqlite:`; None for the default path."""
    if rest.startswith("//") and not rest.startswith("///"):
        raise StoreFailed("sqlite:// needs a third slash: sqlite:///absolute/path, or sqlite:relative/path")
    if rest.startswith(":"):
        raise StoreFailed("sqlite: needs the path of a file; for a store in memory, use memory:")
    return unquote(rest.removeprefix("//")) or None


def _postgres(url: str) -> Store:
    try:
        from .postgres import PostgresStore
    except ModuleNotFoundError as missing:
        if missing.name != "psycopg":
            raise
        raise StoreFailed("PostgreSQL needs psycopg: pip install 'duologue[postgres]'") from None
    except ImportError:
        raise StoreFailed("psycopg can't find libpq: pip install 'duologue[postgres]'") from None
    return PostgresStore(url)
