"""Markup is safe by construction."""

from __future__ import annotations

from tests.replay.picture.drawn_page import (
    page_of,
    spoken_call,
)


def test_a_word_is_never_markup() -> None:
    stage, words = spoken_call()
    page = page_of(stage, title="</title><script>", words=words)
    assert len(page.all("script")) == 2
    assert page.one("h1").text == "</title><script>"
    assert page.one("p", "caption user").text == words[0].text
    assert words[0].text in page.one("table", "said").text
    assert not [node for node in page.all() if "onload" in node.attributes]
