"""The server's tests have clients; these tests look at what such a conversation leaves behind."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from duologue.testing.postgres import NoPostgres, PrivatePostgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[PrivatePostgres]:
    """A server for these tests. Without PostgreSQL they are skipped, and on CI that is a failure."""
    try:
        server = PrivatePostgres().__enter__()
    except NoPostgres as missing:
        told = f"{missing}; run tools/ensure_postgres.sh"
        if os.environ.get("CI") == "true":
            pytest.fail(told)
        pytest.skip(told)
    yield server
    server.__exit__(None, None, None)
