"""Take pictures of the web panel for the docs, during a real spoken conversation with the starter's agent.

    python tools/picture_panel.py [--out docs/pictures]

A TTS voice plays the user at the microphone; server, ears, flow and voice are real. Rule: a picture shows what
was on the screen and is never retouched. For pictures of every single state, see take_screenshots.py.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from playwright.async_api import async_playwright, expect
from tests.browser import spoken
from tests.browser.agents_here import desk
from tests.browser.panel_page import MICROPHONE, Panel, browsing, hosting

from duologue.ears.local import LocalEars
from duologue.lab.bench.chromium import FLAGS, find_chromium

DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
GREETING = (
    "Hello, this is the flight desk. I can book a flight for you, tell you whether yours is on time, or change "
    "what you have booked. Where would you like to go?"
)
# Waits for two frames and for the end of every finite animation.
_SETTLED = """async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const moving = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(moving.map((one) => one.finished));
}"""


class Camera:
    """Takes pictures of one tab."""

    def __init__(self, panel: Panel, out: Path) -> None:
        self._panel = panel
        self._out = out

    async def take(self, name: str, **look: Any) -> None:
        page = self._panel.page
        await page.set_viewport_size(look.get("size", DESK))
        await page.emulate_media(color_scheme=look.get("scheme", "light"))
        await page.evaluate(_SETTLED)
        path = self._out / f"panel-{name}.png"
        await page.screenshot(path=path)
        sys.stdout.write(f"{path}\n")


async def said(panel: Panel, words: str, question: str) -> None:
    """Say these words, up to three times, until the agent asks the question that follows."""
    for _ in range(3):
        await panel.say(words)
        await panel.state("speaking")
        await panel.state("listening")
        if await panel.said_by("assistant").filter(has_text=question).count():
            return
    raise SystemExit(f"the agent didn't understand {words!r} in three attempts")


async def converse(panel: Panel, camera: Camera) -> None:
    await expect(panel.button("start")).to_be_enabled()
    await panel.when("document.fonts.status === 'loaded'")
    await camera.take("idle")
    await panel.start()
    await panel.when("window.duologue.player.ms(window.duologue.player.samples) > 2500")
    talking = asyncio.create_task(panel.say("I'd like a plane ticket."))  # into the greeting
    await expect(panel.page.locator("#lines del:visible")).to_have_count(1)
    await talking
    await panel.state("speaking")
    await panel.when("window.duologue.player.ms(window.duologue.player.samples) > 500")
    await camera.take("interrupted")
    await panel.state("listening")
    await said(panel, "London.", "fly to")
    talking = asyncio.create_task(panel.play(await spoken.sentence("I would like to fly to Paris.")))
    await panel.when(
        "/like to fly/.test(document.querySelector('#lines > li[data-role=user]:last-child')?.textContent)"
    )
    await camera.take("listening")
    await talking
    await panel.state("speaking")
    await panel.state("listening")
    await said(panel, "Next Monday.", "How many people")
    await said(panel, "Two people.", "Shall I book it?")
    await camera.take("booking")
    await camera.take("dark", scheme="dark")
    await camera.take("phone", size=PHONE)
    await panel.page.set_viewport_size(DESK)
    await panel.button("hood-toggle").click()
    await expect(panel.page.locator("#hood svg .lit").first).to_be_attached()
    await camera.take("debug", size={"width": 1280, "height": 1560})


async def main(out: Path) -> None:
    ears = LocalEars(final_model="tiny")
    ears.load()
    async with hosting(desk(ears, GREETING, wpm=175)) as host, async_playwright() as play:
        browser = await play.chromium.launch(executable_path=find_chromium(), args=[*FLAGS])
        async with browsing(browser, host, (MICROPHONE,), viewport=DESK) as tabs:
            panel = await tabs.open()
            await converse(panel, Camera(panel, out))
        await browser.close()


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=Path("docs/pictures"), help="the folder for the pictures")
    chosen = options.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen.out))
