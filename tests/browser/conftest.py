"""A real Chromium and a real server in one event loop, for the tests of this folder.

A test is a coroutine; the loop goes on from test to test, and one browser serves them all. Rule: without a
Chromium nothing here passes silently: the tests are skipped loudly, and where CI is set they fail.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import inspect
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from playwright.async_api import Browser, async_playwright

from duologue.lab.bench.chromium import FLAGS
from duologue.runtime.agent import Agent
from tests.browser.panel_page import MICROPHONE, Host, Panel, Tabs, browsing, hosting
from tests.needs import needs_chromium


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Tests that are coroutines run in the loop of this folder."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    loop: asyncio.Runner = pyfuncitem.funcargs["loop"]
    loop.run(pyfuncitem.obj(**wanted))
    return True


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """One browser at a time, whichever process runs it."""
    with open(Path(tempfile.gettempdir()) / "duologue-browser-tests.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session", autouse=True)
def chromium() -> str:
    return needs_chromium()


@pytest.fixture(scope="session", autouse=True)
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def microphone_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the browser's own fake microphone plays when it is opened."""
    return tmp_path_factory.mktemp("microphone") / "said.wav"


@pytest.fixture(scope="session")
def browser(loop: asyncio.Runner, chromium: str, microphone_file: Path) -> Iterator[Browser]:
    driver = async_playwright()
    started = loop.run(driver.start())
    sound = f"--use-file-for-fake-audio-capture={microphone_file}%noloop"
    made = loop.run(started.chromium.launch(executable_path=chromium, args=[*FLAGS, sound]))
    yield made
    loop.run(made.close())
    loop.run(started.stop())


class Opens(Protocol):
    """Opens a tab on an agent; `init` are scripts that run before the page's own."""

    def __call__(self, agent: Any, *init: str, search: str = "", **options: Any) -> Awaitable[Visit]: ...


class Visit:
    """A server, a profile of the browser, and its first tab."""

    def __init__(self, host: Host, tabs: Tabs, panel: Panel) -> None:
        self.host = host
        self.tabs = tabs
        self.panel = panel


@pytest.fixture
def visit(loop: asyncio.Runner, browser: Browser) -> Iterator[Opens]:
    """Everything that a test opens is closed after it, and what a page may not do fails it."""
    open_things = contextlib.AsyncExitStack()

    async def opens(agent: Agent | Callable[[], Agent], *init: str, search: str = "", **options: Any) -> Visit:
        host = await open_things.enter_async_context(hosting(agent))
        tabs = await open_things.enter_async_context(browsing(browser, host, init or (MICROPHONE,), **options))
        return Visit(host, tabs, await tabs.open(search))

    yield opens
    loop.run(open_things.aclose())


@pytest.fixture(scope="session")
def real_ears() -> Any:
    """Models are loaded once."""
    from duologue.ears.local import LocalEars

    ears = LocalEars()
    ears.load()
    return ears
