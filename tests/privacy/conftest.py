"""The server's tests have clients; these tests look at what such a conversation leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from duologue.testing.postgres import PrivatePostgres
from tests.needs import private_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[PrivatePostgres]:
    """A server for these tests."""
    with private_postgres() as server:
        yield server
