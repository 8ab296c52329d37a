"""Notices: what has failed, and what the user can do about it."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import begin


def test_a_fault_offers_a_retry(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.state("error", "thinking")
    what = {"level": "error", "code": "SERVER_ERROR", "message": "Retry in a moment.", "fatal": False}
    server.say("notification", **what, actions=["retry", "dismiss"])
    page.get_by_role("alert").get_by_role("button", name="Try again").click()
    server.wait("retry")
    expect(page.locator(".notice")).to_have_count(0)


def told(server: FakeServer, code: str, level: str = "warning") -> None:
    server.say("notification", level=level, code=code, message=f"about {code}", actions=[], fatal=False)


def test_a_notice_goes_when_what_it_says_is_no_longer_so(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.status(hearing="broken")
    told(server, "problem_ears")
    told(server, "unsaved")
    expect(page.locator(".notice")).to_have_count(2)
    server.status(hearing="on")
    expect(page.locator(".notice")).to_have_text(["about unsaved"])
    told(server, "saved_again", "info")
    expect(page.locator(".notice")).to_have_text(["about saved_again"])
