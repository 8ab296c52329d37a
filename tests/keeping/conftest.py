"""Conversations that are kept, while what keeps them fails. Clients and servers are those of other folders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from duologue.testing.postgres import PrivatePostgres
from tests.needs import private_postgres


@pytest.fixture
def postgres() -> Iterator[PrivatePostgres]:
    """A server that a test may stop."""
    with private_postgres() as server:
        yield server
