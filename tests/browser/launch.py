"""Starts Chromium for pages that talk to the fake server."""

from __future__ import annotations

from playwright.sync_api import Browser, Playwright

from duologue.lab.bench.chromium import FLAGS, find_chromium


def launch(play: Playwright, program: str = "") -> Browser:
    """A browser that grants the microphone to every page. `program` is the path of a Chromium."""
    return play.chromium.launch(
        executable_path=program or find_chromium(),
        args=["--use-fake-ui-for-media-stream", *FLAGS],
        chromium_sandbox=False,
    )
