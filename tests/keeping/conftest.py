"""Conversations that are kept, while what keeps them fails. Clients and servers are those of other folders."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from duologue.testing.postgres import NoPostgres, PrivatePostgres


@pytest.fixture
def postgres() -> Iterator[PrivatePostgres]:
    """A server that a test may stop. Without PostgreSQL it is skipped, and on CI that is a failure."""
    try:
        server = PrivatePostgres().__enter__()
    except NoPostgres as missing:
        told = f"{missing}; run tools/ensure_postgres.sh"
        if os.environ.get("CI") == "true":
            pytest.fail(told)
        pytest.skip(told)
    yield server
    server.__exit__(None, None, None)
