"""Where a Chromium is, and how it is started so that a page can talk and listen in it without anybody there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

FLAGS = (
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find_chromium() -> str:
    """The browser's file, or nothing."""
    for place in (os.environ.get("DUOLOGUE_CHROMIUM"), "/usr/bin/chromium", shutil.which("chromium")):
        if place and Path(place).exists():
            return place
    return ""
