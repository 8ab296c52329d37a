"""One browser with one tab, in which all tests against the fake server open the panel.

A new profile has to load and compile everything again, which takes longer than most tests. Rule: whatever a test may
leave behind is put back in `SharedTab.clean`, and nowhere else. What can't be put back (a script that runs before those
of every page, a clock that was replaced) needs a profile of its own: see `own_page` in conftest.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.limits import WAIT_S

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize

    from tests.browser.fake_server import FakeServer

WAIT_MS = round(WAIT_S * 1000)
DESK: ViewportSize = {"width": 1280, "height": 800}


def new_profile(browser: Browser) -> BrowserContext:
    """Empty storage; nothing moves."""
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    return context


@contextlib.contextmanager
def opened(page: Page, server: FakeServer) -> Iterator[Page]:
    """The panel in this tab, which has said hello. An error on its console fails the test."""
    problems: list[str] = []

    def note_error(error: object) -> None:
        problems.append(str(error))

    def note_line(line: ConsoleMessage) -> None:
        if line.type == "error":
            problems.append(line.text)

    page.on("pageerror", note_error)
    page.on("console", note_line)
    page.goto(server.url)
    server.wait("hello")  # a test that counts them, or opens the page again, knows that one came
    yield page
    page.remove_listener("pageerror", note_error)
    page.remove_listener("console", note_line)
    assert not [problem for problem in problems if "WebSocket" not in problem]


class SharedTab:
    """Opened for the first test that needs it and closed before a test that doesn't: while the browser is open, this
    thread has a running event loop, which breaks those that run their own."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._browser: Browser | None = None
        self._page: Page | None = None

    def browser(self, chromium: str) -> Browser:
        from playwright.sync_api import expect, sync_playwright

        from tests.browser.launch import launch

        if self._browser is None:
            expect.set_options(timeout=WAIT_MS)
            play = self._open.enter_context(sync_playwright())
            self._browser = self._open.enter_context(launch(play, chromium))
        return self._browser

    def page(self, browser: Browser) -> Page:
        """The tab, as `clean` left it."""
        if self._page is None:
            self._page = new_profile(browser).new_page()
        return self._page

    def clean(self, server: FakeServer) -> None:
        """Put back what a test has changed: other profiles, storage, cookies, permissions, routes, the emulated media,
        the size of the window, the mouse, and at last the server. On its empty page nothing writes to the storage or
        connects to the server any more."""
        page = self._page
        for context in self._browser.contexts if self._browser else ():
            if page is None or context is not page.context:
                context.close()
        if page is not None:
            page.goto(f"{server.url}empty")
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
            page.context.clear_cookies()
            page.context.clear_permissions()
            page.unroute_all()
            page.emulate_media(media="null", color_scheme="light", reduced_motion="reduce", forced_colors="none")
            page.set_viewport_size(DESK)
            page.mouse.move(0, 0)
        server.reset()

    def close(self) -> None:
        self._browser = self._page = None
        self._open.close()
