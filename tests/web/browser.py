"""A Chromium for the tests: which one, and how it is started."""

from __future__ import annotations

from playwright.sync_api import Browser, Playwright

from tests.needs import needs_chromium

FLAGS = (
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def launch(play: Playwright, *more: str) -> Browser:
    return play.chromium.launch(executable_path=needs_chromium(), args=[*FLAGS, *more], chromium_sandbox=False)
