"""Take screenshots of the web panel in every state, light and dark, in windows of several sizes, in five languages.

    python tools/take_screenshots.py [--out build/screenshots] [scene …]

Plays the scenes of tests/browser against the fake server in a headless Chromium. Rule: a picture shows what a scene
shows and is never retouched.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from playwright.sync_api import sync_playwright
from tests.browser.fake_server import FakeServer
from tests.browser.launch import launch
from tests.browser.scenes import SCENES

SIZES = {
    "desk": (1280, 800),
    "phone": (390, 844),
    "short": (1100, 520),
    "small": (800, 600),
    "tiny": (360, 600),
    "across": (844, 390),
    "low": (900, 420),
}
LANGUAGES = ["en", "de", "fr", "es", "ja"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("build/screenshots"), help="the folder for the pictures")
    options.add_argument("--theme", choices=["light", "dark"], action="append", help="only this colour scheme")
    options.add_argument("--size", choices=list(SIZES), action="append", help="only this size")
    options.add_argument("--language", choices=LANGUAGES, default="en", help="the language of the page")
    options.add_argument("scenes", nargs="*", help="only these scenes")
    chosen = options.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    mark = "" if chosen.language == "en" else f"-{chosen.language}"
    with sync_playwright() as play:
        browser = launch(play)
        for scene in SCENES:
            if chosen.scenes and scene.name not in chosen.scenes:
                continue
            server = FakeServer()
            url = server.start()
            context = browser.new_context(viewport={"width": 1280, "height": 800}, locale=chosen.language)
            page = context.new_page()
            page.goto(url)
            scene.play(page, server)
            for size in chosen.size or SIZES:
                width, height = SIZES[size]
                page.set_viewport_size({"width": width, "height": height})
                for theme in chosen.theme or ("light", "dark"):
                    page.emulate_media(color_scheme=theme)
                    page.wait_for_timeout(scene.settles_ms)
                    page.screenshot(path=chosen.out / f"{scene.name}-{size}-{theme}{mark}.png")
            page.context.close()
            server.stop()
        browser.close()


if __name__ == "__main__":
    main()
