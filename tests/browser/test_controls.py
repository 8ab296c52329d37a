"""The buttons of the page."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import begin, talked


def test_the_buttons_send_what_they_say(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.state("speaking", "thinking")
    page.get_by_role("button", name="Interrupt").click()
    server.wait("interrupt")
    page.get_by_role("button", name="Pause").click()
    server.wait("suspend")
    server.state("paused", "speaking")
    page.get_by_role("button", name="Resume").click()
    server.wait("resume")
    page.get_by_role("button", name="Mute").click()
    expect(page.get_by_role("button", name="Unmute")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="End", exact=True).click()
    server.wait("end")
    expect(page.locator("#start")).to_have_text("Start again")
    expect(page.locator("#start")).to_be_focused()


def test_everything_can_be_reached_with_the_tab_key(page: Page, server: FakeServer) -> None:
    talked(page, server)
    page.locator(".skip").focus()
    reached = []
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    wanted = ["hood-toggle", "theme-toggle", "mute", "pause", "end", "mode", "captions", "typed", "send"]
    assert [name for name in reached if name in wanted][: len(wanted)] == wanted
