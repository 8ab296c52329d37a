"""Fixtures for the tests of the panel in Chromium, against a fake server and against a real one.

Against the fake server (`server`, `page`) a test is a plain function, and says what the server sends; these tests share
a tab. Against a real
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

from tests.browser.shared_tab import SharedTab, new_profile, opened
from tests.needs import needs_chromium

if TYPE_CHECKING:
    from playwright import async_api
    from playwright.sync_api import Browser, Page

    from duologue.runtime.agent import Agent
    from tests.browser.fake_server import FakeServer
    from tests.browser.panel_page import Host, Panel, Tabs


@pytest.fixture(scope="session")
def chromium() -> str:
    return needs_chromium()


# -- Against the fake server


SHARED_TAB = SharedTab()


@pytest.fixture(scope="package")
def shared_tab() -> Iterator[SharedTab]:
    yield SHARED_TAB
    SHARED_TAB.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if "browser" not in getattr(item, "fixturenames", ()):
        SHARED_TAB.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share the tab come first among those of this folder, so that the browser is started once."""
    here = Path(__file__).parent
    places = [number for number, item in enumerate(items) if here in item.path.parents]
    ours = sorted(
        (items[number] for number in places), key=lambda item: "browser" not in getattr(item, "fixturenames", ())
    )
    for number, item in zip(places, ours, strict=True):
        items[number] = item


@pytest.fixture(scope="package")
def one_server() -> Iterator[FakeServer]:
    from tests.browser.fake_server import FakeServer

    fake = FakeServer()
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture
def browser(chromium: str, shared_tab: SharedTab) -> Browser:
    return shared_tab.browser(chromium)


@pytest.fixture
def server(browser: Browser, shared_tab: SharedTab, one_server: FakeServer) -> Iterator[FakeServer]:
    """The fake server, as if it had just started."""
    yield one_server
    shared_tab.clean(one_server)


@pytest.fixture
def page(browser: Browser, server: FakeServer, shared_tab: SharedTab) -> Iterator[Page]:
    """The opened panel, in the tab that tests share."""
    with opened(shared_tab.page(browser), server) as panel:
        yield panel


@pytest.fixture
def own_page(browser: Browser, server: FakeServer) -> Iterator[Page]:
    """The same in a profile that no other test uses."""
    with new_profile(browser) as context, opened(context.new_page(), server) as panel:
        yield panel


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
