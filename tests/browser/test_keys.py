"""Keys: the space bar is push-to-talk."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import begin


def test_the_space_bar_talks_while_it_is_held_but_not_in_the_text_box(page: Page, server: FakeServer) -> None:
    begin(page, server)
    page.locator("#modes input[value=push]").click()
    page.locator("#hold").focus()
    server.frames.clear()
    page.wait_for_timeout(700)
    silent = len(server.frames)
    page.keyboard.down("Space")
    server.wait("press")
    expect(page.locator("#hold")).to_contain_text("Release to send")
    server.wait_frames(silent + 6)
    page.keyboard.up("Space")
    server.wait("release")
    assert silent <= 17, "a closed gate sends a short tail of silence and then nothing"
    page.locator("#typed").focus()
    page.keyboard.press("Space")
    assert len(server.all("press")) == 1
