"""Finds Chromium, and lists the flags with which a page may play sound and use a fake microphone although no user has
clicked anything."""

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
