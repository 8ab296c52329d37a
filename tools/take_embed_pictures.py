"""Take the pictures of the embedded agent on a foreign page: `python tools/take_embed_pictures.py [FOLDER]`.

A real server, a page of another origin and a headless Chromium, in a window and on a phone. Rule: a picture shows what
a visitor sees and is never retouched.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from playwright.async_api import Browser, async_playwright, expect
from tests.browser.test_embed import DESK, PHONE, embedded, visiting

from duologue.lab.bench.chromium import FLAGS, find_chromium

SCALES = {"desk": 1, "phone": 2}


async def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        for name, window in (("desk", DESK), ("phone", PHONE)):
            await take(browser, folder / f"embed-{name}.png", viewport=window, device_scale_factor=SCALES[name])
        await browser.close()


async def take(browser: Browser, path: Path, **options: object) -> None:
    async with embedded() as (foreign, _), visiting(browser, **options) as (page, _):
        await page.goto(foreign.origin)
        await page.get_by_role("button", name="Talk to Ada").click()
        await page.get_by_role("button", name="Start talking").click()
        await expect(page.locator(".widget")).to_have_attribute("data-phase", "listening")
        await page.get_by_label("Write a message").fill("Where is my order?")
        await page.keyboard.press("Enter")
        answer = page.locator("#lines > li").filter(has_text="We ship today.")
        await expect(answer).to_have_attribute("data-live", "false")
        await expect(page.locator(".widget")).to_have_attribute("data-phase", "listening")
        await page.wait_for_timeout(1_000)  # the orb comes to rest
        await page.screenshot(path=path)
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")))
