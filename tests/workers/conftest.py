"""MCP servers for the tests: on the web, and over every transport and dialect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from duologue.workers import McpServer
from tests.workers.errand_shop import WAYS, Shop, WebServer, by_process


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    server = WebServer()
    yield server
    server.kill()


@pytest.fixture
def mortal_web() -> Iterator[WebServer]:
    """A web server that the test may kill."""
    server = WebServer()
    yield server
    server.kill()


@pytest.fixture(scope="module", params=WAYS, ids="-".join)
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    """The errand server, each time over another transport and dialect."""
    transport, dialect = request.param
    options: Any = {"dialect": dialect, "modes": {"long_errand": "delegate"}, "cancellable": ["long_errand"]}
    if transport == "stdio":
        server = by_process(**options)
    else:
        server = McpServer.http(request.getfixturevalue("web").url(), **options)
    shop = Shop(server, request.param)
    yield shop
    shop.close()
