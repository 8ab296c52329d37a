"""The texts of the page: in every language, and in the one that the page's address names."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer


def test_the_page_uses_the_language_of_its_address(page: Page, server: FakeServer) -> None:
    page.goto(f"{server.url}?lang=de")
    expect(page.locator("#start")).to_have_text("Gespräch beginnen")
    expect(page.locator("#state-label")).to_have_text("Bereit")
    assert page.evaluate("document.documentElement.lang") == "de"
    assert server.all("hello")[-1]["language"] == "de"


def test_every_text_is_there_in_every_language(page: Page) -> None:
    missing = page.evaluate(
        """async () => {
            const { LANGUAGES, textsIn } = await import("./texts.js");
            const source = await (await fetch("texts.js")).text();
            const keys = [...source.matchAll(/^  (\\w+): \\[/gm)].map(([, key]) => key);
            return keys.flatMap((key) => LANGUAGES.filter((language) => !textsIn(language)(key)).map((l) => [key, l]));
        }"""
    )
    assert missing == []
