"""The texts of the page: in every language, and in the one that the page's address names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from duologue.phrases.texts import LANGUAGES
from duologue.server.static_files import WEB
from tests.browser.fake_server import FakeServer

FILES = sorted((WEB / "languages").glob("*.js"))


def test_the_page_uses_the_language_of_its_address(page: Page, server: FakeServer) -> None:
    page.goto(f"{server.url}?lang=de")
    expect(page.locator("#start")).to_have_text("Gespräch beginnen")
    expect(page.locator("#state-label")).to_have_text("Bereit")
    assert page.evaluate("document.documentElement.lang") == "de"
    assert server.all("hello")[-1]["language"] == "de"


def test_a_language_with_a_file_of_its_own_is_loaded(page: Page, server: FakeServer) -> None:
    page.goto(f"{server.url}?lang=pl")
    expect(page.locator("#start")).to_have_text("Zacznij rozmowę")
    assert page.evaluate("document.documentElement.lang") == "pl"
    assert server.all("hello")[-1]["language"] == "pl"


def test_every_text_is_there_in_every_language(page: Page) -> None:
    missing = page.evaluate(
        """async () => {
            const { LANGUAGES, textsIn, textsOf } = await import("./texts.js");
            const source = await (await fetch("texts.js")).text();
            const keys = [...source.matchAll(/^  (\\w+): \\[/gm)].map(([, key]) => key);
            const found = [];
            for (const language of LANGUAGES) {
                const own = await textsOf(language);
                const text = textsIn(language, own);
                found.push(...keys.filter((key) => !text(key)).map((key) => [key, language]));
            }
            return found;
        }"""
    )
    assert missing == []


def test_the_page_has_the_languages_of_the_agent() -> None:
    source = (WEB / "texts.js").read_text(encoding="utf-8")
    columns = re.search(r"COLUMNS = \[(.*)\]", source)
    others = re.search(r"LANGUAGES = \[\.\.\.COLUMNS, (.*)\]", source)
    assert columns
    assert others
    named = re.findall(r'"(\w+)"', f"{columns.group(1)}, {others.group(1)}")
    assert sorted(named) == sorted(LANGUAGES)
    assert [path.stem for path in FILES] == sorted(re.findall(r'"(\w+)"', others.group(1)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_language_file_has_the_keys_and_placeholders_of_english(path: Path) -> None:
    english = dict(re.findall(r'^  (\w+): \["(.*?)", ', (WEB / "texts.js").read_text(encoding="utf-8"), re.MULTILINE))
    own = dict(re.findall(r'^  (\w+): "(.*)",$', path.read_text(encoding="utf-8"), re.MULTILINE))
    assert {*english} == {*own}
    assert len(english) > 100
    for key, text in english.items():
        assert own[key].strip(), key
        assert sorted(re.findall(r"\{\w+\}", own[key])) == sorted(re.findall(r"\{\w+\}", text)), key
