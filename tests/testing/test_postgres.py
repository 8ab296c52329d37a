"""A private PostgreSQL server runs for a test and leaves nothing behind."""

from __future__ import annotations

import psycopg
import pytest

from tests.needs import private_postgres


def test_a_private_server_leaves_nothing_behind() -> None:
    with private_postgres() as server:
        folder = server.folder
        with psycopg.connect(server.tcp_url) as link:
            assert link.execute("SELECT 1").fetchone() == (1,)
    assert not folder.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(server.tcp_url)
