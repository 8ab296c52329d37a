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
