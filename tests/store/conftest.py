"""Stores of every kind with a clock that tests move, a private PostgreSQL, and tests that are coroutines."""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duologue.testing.postgres import PrivatePostgres
from tests.limits import TEST_S
from tests.needs import private_postgres
from tests.store.store_places import KINDS, MemoryPlace, Place, PostgresPlace, SqlitePlace

_numbers = itertools.count(1)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs in its own event loop, for a limited time."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    test = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    asyncio.run(asyncio.wait_for(_with_places(test, pyfuncitem.funcargs), TEST_S))
    return True


async def _with_places(test: Any, arguments: dict[str, Any]) -> None:
    try:
        await test
    finally:
        for place in arguments.values():
            if isinstance(place, Place):
                await place.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PrivatePostgres]:
    """A server for all tests."""
    with private_postgres() as server:
        yield server


@pytest.fixture
def pg(postgres: PrivatePostgres) -> PostgresPlace:
    return PostgresPlace(postgres, f"test_{next(_numbers)}")


@pytest.fixture
def sqlite(tmp_path: Path) -> SqlitePlace:
    return SqlitePlace(tmp_path / "kept" / "store.sqlite3")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Place:
    """A place of each kind."""
    if request.param == "memory":
        return MemoryPlace()
    found: Place = request.getfixturevalue("sqlite" if request.param == "sqlite" else "pg")
    return found


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = [report for report in terminalreporter.stats.get("skipped", ()) if "PostgreSQL" in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(
            f"WARNING: {len(skipped)} tests of the PostgreSQL store did not run: sh tools/ensure_postgres.sh", red=True
        )
