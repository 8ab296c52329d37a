"""The page of `duologue timeline --html`: the recording plays in step with the drawing, in both directions."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from duologue.observe.stereo_file import LEFT, RATE_HZ, StereoFile
from tests.browser.shared_tab import new_profile
from tests.cli.command_line import run
from tests.cli.test_timeline import played

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BEGAN_MS = 250  # of the recording, on the clock of the journal
SOUND_MS = 6_000

# The page allows no code from texts, so a test can't poll it; these wait inside.
LOADED = """() => new Promise((done) => {
  const sound = document.querySelector("audio");
  if (sound.readyState) done(); else sound.addEventListener("loadedmetadata", () => done());
})"""
SEEK = """(to) => new Promise((done) => {
  const sound = document.querySelector("audio");
  sound.addEventListener("seeked", () => done(), { once: true });
  sound.currentTime = to;
})"""
PLAY = """(to) => new Promise((done) => {
  const sound = document.querySelector("audio");
  const look = () => {
    if (sound.currentTime < to) requestAnimationFrame(look);
    else { sound.pause(); requestAnimationFrame(() => requestAnimationFrame(done)); }
  };
  sound.muted = true;
  sound.play();
  look();
})"""


@pytest.fixture
def drawn(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """The page of a call with its recording."""
    journal, html = tmp_path / "call.jsonl", tmp_path / "call.html"
    with journal.open("w", encoding="utf-8") as out:
        played().write_journal(out)
    recording = StereoFile(journal.with_suffix(".wav"), BEGAN_MS)
    recording.write(LEFT, 0, array("h", [900] * (SOUND_MS * RATE_HZ // 1_000)))
    recording.close()
    done = run("timeline", journal, "--html", html)
    assert done.returncode == 0, done.stderr
    with new_profile(browser) as context:
        page = context.new_page()
        page.goto(html.as_uri())
        page.evaluate(LOADED)
        yield page


def cursor_ms(page: Page) -> int:
    """The time that the cursor shows, from the start of the call."""
    text = page.locator("#at").inner_text()
    minutes, seconds, ms = map(int, re.findall(r"(\d+):(\d+)\.(\d+)", text)[0])
    return (minutes * 60 + seconds) * 1_000 + ms


def offset_ms(page: Page) -> int:
    """The time on the drawing at which the recording begins."""
    return int(page.evaluate("Number(document.querySelector('audio').dataset.offset)"))


def test_the_cursor_follows_the_recording(drawn: Page) -> None:
    for at_ms in (1_000, 3_500, 0):
        drawn.evaluate(SEEK, at_ms / 1_000)
        assert abs(cursor_ms(drawn) - max(0, at_ms + offset_ms(drawn))) <= 1


def test_while_the_recording_plays_the_cursor_moves_with_it(drawn: Page) -> None:
    drawn.evaluate(PLAY, 0.3)
    played_ms = drawn.evaluate("document.querySelector('audio').currentTime * 1000")
    assert abs(cursor_ms(drawn) - max(0, played_ms + offset_ms(drawn))) <= 60  # a few frames


def test_a_click_on_the_drawing_goes_to_that_place_of_the_recording(drawn: Page) -> None:
    box = drawn.locator("#scroller").bounding_box()
    assert box is not None
    drawn.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    clicked_ms = cursor_ms(drawn)
    heard_ms = drawn.evaluate("document.querySelector('audio').currentTime * 1000") + offset_ms(drawn)
    assert clicked_ms > 0
    assert abs(heard_ms - clicked_ms) <= 60
