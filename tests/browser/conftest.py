"""Fixtures for the tests of the panel in Chromium, against a fake server and against a real one.

Against the fake server (`server`, `page`) a test is a plain function, and says what the server sends. Against a real
server (`visit`) a test is a coroutine. Rule: without Playwright or a Chromium the tests are skipped; with CI=true they
fail.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import inspect
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.limits import WAIT_S
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from playwright import async_api
    from playwright.sync_api import Browser, Page

    from duologue.runtime.agent import Agent
    from tests.browser.fake_server import FakeServer
    from tests.browser.panel_page import Host, Panel, Tabs

WAIT_MS = round(WAIT_S * 1000)


@pytest.fixture(scope="session")
def chromium() -> str:
    return needs_chromium()


# -- Against the fake server


class OneBrowser:
    """Opened for the first test that needs it and closed before a test that doesn't: while it is open, this thread has
    a running event loop, which breaks those that run their own."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._browser: Browser | None = None

    def opened(self, chromium: str) -> Browser:
        from playwright.sync_api import expect, sync_playwright

        from tests.browser.launch import launch

        if self._browser is None:
            expect.set_options(timeout=WAIT_MS)
            play = self._open.enter_context(sync_playwright())
            self._browser = self._open.enter_context(launch(play, chromium))
        return self._browser

    def close(self) -> None:
        self._browser = None
        self._open.close()


ONE_BROWSER = OneBrowser()


@pytest.fixture(scope="package")
def one_browser() -> Iterator[OneBrowser]:
    yield ONE_BROWSER
    ONE_BROWSER.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if "browser" not in getattr(item, "fixturenames", ()):
        ONE_BROWSER.close()


@pytest.fixture
def browser(chromium: str, one_browser: OneBrowser) -> Browser:
    return one_browser.opened(chromium)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    from tests.browser.fake_server import FakeServer

    fake = FakeServer()
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture
def page(browser: Browser, server: FakeServer) -> Iterator[Page]:
    """The opened panel, which has said hello. An error on its console fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(WAIT_MS)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    opened.goto(server.url)
    server.wait("hello")  # a test that counts them, or opens the page again, knows that one came
    yield opened
    context.close()
    assert not [problem for problem in problems if "WebSocket" not in problem]


# -- Against a real server


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Tests that are coroutines run in the event loop of this folder."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    loop: asyncio.Runner = pyfuncitem.funcargs["loop"]
    loop.run(pyfuncitem.obj(**wanted))
    return True


@pytest.fixture
def one_at_a_time() -> Iterator[None]:
    """Only one of these tests at a time, also across processes: they run in real time."""
    with open(Path(tempfile.gettempdir()) / "duologue-browser-tests.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def microphone_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Chromium's fake microphone plays when it is opened."""
    return tmp_path_factory.mktemp("microphone") / "said.wav"


@pytest.fixture(scope="session")
def shared_browser(loop: asyncio.Runner, chromium: str, microphone_file: Path) -> Iterator[async_api.Browser]:
    from playwright.async_api import async_playwright

    from duologue.lab.bench.chromium import FLAGS

    started = loop.run(async_playwright().start())
    sound = f"--use-file-for-fake-audio-capture={microphone_file}%noloop"
    made = loop.run(started.chromium.launch(executable_path=chromium, args=[*FLAGS, sound]))
    yield made
    loop.run(made.close())
    loop.run(started.stop())


class Opens(Protocol):
    """Opens a tab on an agent. `init` are scripts that run before the page's own."""

    def __call__(
        self, agent: Any, *init: str, search: str = "", settings: dict[str, Any] | None = None, **options: Any
    ) -> Awaitable[Visit]: ...


class Visit:
    """A server, a browser profile, and its first tab."""

    def __init__(self, host: Host, tabs: Tabs, panel: Panel) -> None:
        self.host = host
        self.tabs = tabs
        self.panel = panel


@pytest.fixture
def visit(loop: asyncio.Runner, shared_browser: async_api.Browser, one_at_a_time: None) -> Iterator[Opens]:
    """Opens a server and a page. Everything is closed after the test, and errors of the page fail it."""
    from tests.browser.panel_page import MICROPHONE, browsing, hosting

    open_things = contextlib.AsyncExitStack()

    async def opens(
        agent: Agent | Callable[[], Agent],
        *init: str,
        search: str = "",
        settings: dict[str, Any] | None = None,
        **options: Any,
    ) -> Visit:
        host = await open_things.enter_async_context(hosting(agent, **(settings or {})))
        tabs = await open_things.enter_async_context(browsing(shared_browser, host, init or (MICROPHONE,), **options))
        return Visit(host, tabs, await tabs.open(search))

    yield opens
    loop.run(open_things.aclose())


@pytest.fixture(scope="session")
def real_ears() -> Any:
    """Models are loaded once."""
    from duologue.ears.local import LocalEars

    ears = LocalEars(final_model="tiny")
    ears.load()
    return ears
