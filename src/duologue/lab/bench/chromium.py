"""Finds Chromium, and lists the flags that let a page play sound and use a fake microphone without a click by a
user."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

FLAGS = (
    "--use-fake-device-for-media-stream",
    "--allow-loopback-in-peer-connection",
    "--autoplay-policy=no-user-gesture-required",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find_chromium() -> str:
    """The path of the browser, or an empty string if it isn't installed."""
    for place in (os.environ.get("DUOLOGUE_CHROMIUM"), "/usr/bin/chromium", shutil.which("chromium")):
        if place and Path(place).exists():
            return place
    return ""
