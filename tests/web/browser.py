"""A Chromium for the tests: which one, and how it is started."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Playwright

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


def chromium() -> str | None:
    """The program, or None where there is none."""
    named = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    return named if named and Path(named).exists() else None


def launch(play: Playwright, *more: str) -> Browser:
    program = chromium()
    assert program, "no Chromium; name one in the variable CHROMIUM"
    return play.chromium.launch(executable_path=program, args=[*FLAGS, *more], chromium_sandbox=False)
