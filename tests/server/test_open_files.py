"""A server may have as many connections open as the administrator allows."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from duologue.server.open_files import OPEN_FILES, raise_limit
from duologue.server.run import run


@pytest.fixture
def low_limit() -> Iterator[int]:
    """A limit such as systems have by default. Yields the limit that the administrator allows."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, before[1]))
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def soft_limit(found: list[int]) -> None:
    found.append(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def test_a_server_raises_the_limit_of_open_files_before_it_serves(low_limit: int) -> None:
    found: list[int] = []
    run(soft_limit(found))
    assert found == [OPEN_FILES if low_limit == resource.RLIM_INFINITY else min(OPEN_FILES, low_limit)]


def test_a_higher_limit_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.server.open_files.OPEN_FILES", 10)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    raise_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before
