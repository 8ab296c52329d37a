"""The colour theme of the page."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.fake_server import FakeServer


def test_the_theme_can_be_turned_and_is_remembered(page: Page, server: FakeServer) -> None:
    page.emulate_media(color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(ground) != light
    page.reload()
    assert page.evaluate(ground) != light
