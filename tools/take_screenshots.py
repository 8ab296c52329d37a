"""Take screenshots of the web panel in every state, light and dark, in windows of several sizes, in five languages.

    python tools/take_screenshots.py [--out build/pictures] [--set faults] [--sheets] [scene …]

Plays the scenes of tests/browser against the fake server in a headless Chromium, and prints every text that is cut off.
`--sheets` also puts the pictures of a language, size and theme together. Japanese needs a font, such as Debian's
fonts-noto-cjk; without one, its letters are boxes. Rule: a picture shows what a scene shows and
is never retouched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser.fake_server import FakeServer
from tests.browser.launch import launch
from tests.browser.notice_scenes import NOTICE_SCENES, WAITING_SCENES
from tests.browser.scenes import SCENES, Scene

SIZES = {
    "desk": (1280, 800),
    "phone": (390, 844),
    "short": (1100, 520),
    "small": (800, 600),
    "tiny": (360, 600),
    "across": (844, 390),
    "low": (800, 420),
}
LANGUAGES = ("en", "de", "fr", "es", "ja")
THEMES = ("light", "dark")
SETS = {"all": SCENES, "faults": (*WAITING_SCENES, *NOTICE_SCENES)}
SHEET_PX, SHEET_ROWS = 1520, 3
# Waits for two frames, the fonts and the end of every finite animation.
_SETTLED = """async () => {
  await document.fonts.ready;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const moving = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(moving.map((one) => one.finished));
}"""
# The texts that don't fit into their boxes: wider than the box, or beside the window.
_CUT_OFF = """() => {
  const cut = [];
  for (const element of document.querySelectorAll("button, p, h1, h2, h3, label, dt, dd, li, span, output")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const box = element.getBoundingClientRect();
    const look = getComputedStyle(element);
    if (!own || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (box.width <= 2 || element.closest("svg, .unseen, [aria-hidden=true]")) continue;
    const clips = look.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
    const lower = look.overflowY === "hidden" && element.scrollHeight > element.clientHeight + 2;
    const outside = box.left < -1 || box.right > innerWidth + 1;
    if (clips || lower || outside) cut.push(element.textContent.trim().slice(0, 60));
  }
  return cut;
}"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=Path("build/pictures"), help="the folder for the pictures")
    options.add_argument("--theme", choices=THEMES, action="append", help="only this colour scheme")
    options.add_argument("--size", choices=list(SIZES), action="append", help="only this size")
    options.add_argument("--language", choices=LANGUAGES, action="append", help="only this language")
    options.add_argument("--set", choices=list(SETS), default="all", help="which scenes: all, or faults and notices")
    options.add_argument("--sheets", action="store_true", help="also put the pictures together on sheets")
    options.add_argument("scenes", nargs="*", help="only these scenes")
    chosen = options.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = launch(play)
        for language in chosen.language or LANGUAGES:
            taken: dict[tuple[str, str], list[Path]] = {}
            for scene in (*SETS[chosen.set],):
                if not chosen.scenes or scene.name in chosen.scenes:
                    looks = [(size, theme) for size in chosen.size or SIZES for theme in chosen.theme or THEMES]
                    for look, path in picture(browser, scene, language, looks, chosen.out):
                        taken.setdefault(look, []).append(path)
            if chosen.sheets:
                for (size, theme), paths in taken.items():
                    put_together(browser, paths, SIZES[size][0], chosen.out / f"sheet-{language}-{size}-{theme}")
        browser.close()


def picture(
    browser: Browser, scene: Scene, language: str, looks: list[tuple[str, str]], out: Path
) -> Iterator[tuple[tuple[str, str], Path]]:
    """Play a scene, and take a picture of it in each size and theme."""
    server = FakeServer()
    url = server.start()
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale=language)
    page = context.new_page()
    page.goto(url)
    scene.play(page, server)
    for size, theme in looks:
        width, height = SIZES[size]
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        page.evaluate(_SETTLED)
        path = out / f"{scene.name}-{size}-{theme}-{language}.png"
        page.screenshot(path=path)
        tell_cut_off(page, path)
        yield (size, theme), path
    context.close()
    server.stop()


def tell_cut_off(page: Page, path: Path) -> None:
    for text in page.evaluate(_CUT_OFF):
        sys.stdout.write(f"{path.name}: cut off: {text}\n")
    sys.stdout.flush()


def put_together(browser: Browser, paths: list[Path], width: int, name: Path) -> None:
    """Put pictures side by side on sheets, a few rows each, with their names."""
    columns = max(2, SHEET_PX // (width + 8))
    page = browser.new_page(viewport={"width": SHEET_PX, "height": 400})
    for number, first in enumerate(range(0, len(paths), columns * SHEET_ROWS), 1):
        cells = "".join(
            f'<figure><img src="{path.absolute().as_uri()}"><figcaption>{path.stem}</figcaption></figure>'
            for path in paths[first : first + columns * SHEET_ROWS]
        )
        style = f"body{{display:grid;grid-template-columns:repeat({columns},1fr);gap:8px;margin:8px;background:#888}}"
        style += "figure{margin:0}img{width:100%}figcaption{font:14px sans-serif}"
        sheet = name.with_name(f"{name.name}-{number}.html")
        sheet.write_text(f"<!doctype html><meta charset=utf-8><style>{style}</style>{cells}", encoding="utf-8")
        page.goto(sheet.absolute().as_uri())
        page.screenshot(path=sheet.with_suffix(".png"), full_page=True)
        sheet.unlink()
    page.close()


if __name__ == "__main__":
    main()
