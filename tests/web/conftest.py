"""What the tests of the panel share: one browser, and for each test a server and a page of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.needs import needs_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.web.fake_server import FakeServer

WAIT_MS = 30_000  # generous: what is waited for is an event, and this machine may be busy


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed after each module: while it is open, this thread has a running loop, which other tests must not see."""
    from playwright.sync_api import expect, sync_playwright

    from tests.web.browser import launch

    needs_chromium()
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as play:
        opened = launch(play)
        yield opened
        opened.close()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    from tests.web.fake_server import FakeServer

    fake = FakeServer()
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture
def page(browser: Browser, server: FakeServer) -> Iterator[Page]:
    """The panel, opened; whatever it writes to the console as an error fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    opened.goto(server.url)
    yield opened
    context.close()
    assert not [problem for problem in problems if "WebSocket" not in problem]
