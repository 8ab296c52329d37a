"""What a store says when it can't be opened."""

from __future__ import annotations

import traceback

import pytest

from duologue.ports.store import StoreFailed
from duologue.store.postgres import PostgresStore
from duologue.store.sqlite import SqliteStore


async def opening(store: SqliteStore) -> str:
    """The error of a store in a file, in one line."""
    with pytest.raises(StoreFailed) as caught:
        await store.open()
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def opening_postgres(url: str, **how: str) -> str:
    """The error of a store in PostgreSQL: one line, without the password and the user."""

    async def attempt() -> None:
        await PostgresStore(url, **how).open()  # type: ignore[arg-type]

    with pytest.raises(StoreFailed) as caught:
        await attempt()
    whole = "".join(traceback.format_exception(caught.value, chain=True))
    message = str(caught.value)
    assert "\n" not in message
    for secret in ("s3cret", "alice"):
        assert secret not in message
        assert secret not in "".join(line for line in whole.splitlines() if not line.startswith("    "))
    return message
