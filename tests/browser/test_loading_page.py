"""The page that is shown while models are downloaded: the progress, and then the panel in the same tab."""

from __future__ import annotations

import asyncio
import threading

from playwright.async_api import Browser, expect

from duologue import Agent
from duologue.core.errors import DuologueError
from duologue.server.app import Server
from duologue.server.listening import bind_socket, server_url
from duologue.server.loading import LoadingProgress, show_loading
from duologue.server.run import serving
from duologue.server.settings import ServerSettings
from tests.browser.panel_page import LIMIT_S


class Download:
    """A download of two steps in its thread. It goes on when the test has seen a step."""

    def __init__(self, fails: bool = False) -> None:
        self.progress = LoadingProgress("Flight desk", total_bytes=100_000_000)
        self.opened = asyncio.Event()
        self._fails = fails
        self._seen = threading.Semaphore(0)

    def work(self) -> None:
        for done, step in ((40, "a package: fetching"), (100, "a model: unpacking")):
            self.progress.done_bytes["a package"] = done * 1_000_000
            self.progress.step = step
            assert self._seen.acquire(timeout=LIMIT_S)
        if self._fails:
            raise DuologueError("the disk is full")

    def goes_on(self) -> None:
        self._seen.release()


async def test_the_page_shows_the_progress_of_the_download_and_becomes_the_panel(shared_browser: Browser) -> None:
    listening, download = bind_socket("127.0.0.1", 0), Download()
    page = await shared_browser.new_page()
    try:
        loading = asyncio.create_task(
            show_loading(listening, download.progress, download.work, download.opened.set), name="loading"
        )
        await download.opened.wait()
        await page.goto(server_url(listening))
        await expect(page.locator("#name")).to_have_text("Flight desk")
        for amount, share, step in (
            ("40 of 100 MB", 0.4, "a package: fetching"),
            ("100 of 100 MB", 1.0, "a model: unpacking"),
        ):
            await expect(page.locator("#amount")).to_have_text(amount)
            await expect(page.locator("#step")).to_have_text(step)
            assert await page.locator("#bar").evaluate("bar => bar.position") == share
            download.goes_on()
        await loading
        async with serving(Server(Agent(lambda request: "I see."), ServerSettings(port=0)), listening):
            await expect(page.locator("#start")).to_be_enabled()
            await expect(page.locator("#bar")).to_have_count(0)
            await page.close()
    finally:
        await page.close()
        listening.close()


async def test_a_download_that_fails_stays_on_the_page_with_its_reason(shared_browser: Browser) -> None:
    listening, download = bind_socket("127.0.0.1", 0), Download(fails=True)
    page = await shared_browser.new_page()
    try:
        loading = asyncio.create_task(
            show_loading(listening, download.progress, download.work, download.opened.set), name="loading"
        )
        await download.opened.wait()
        await page.goto(server_url(listening))
        await expect(page.locator("#amount")).to_have_text("40 of 100 MB")
        download.goes_on()
        download.goes_on()
        await expect(page.get_by_role("alert")).to_have_text("the disk is full")
        await asyncio.wait([loading])
        assert str(loading.exception()) == "the disk is full"
        await expect(page.get_by_role("alert")).to_have_text("the disk is full")
        await expect(page.locator("#what")).to_have_text("The models could not be loaded.")
    finally:
        await page.close()
        listening.close()
