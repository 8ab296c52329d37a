"""Markup is safe by construction."""

from __future__ import annotations

import json

import pytest

from duologue.replay.picture.markup import data, join, raw, tag
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


def test_text_is_escaped_and_markup_is_not() -> None:
    inner = tag("b", "1 < 2 & 'so'")
    assert inner == "<b>1 &lt; 2 &amp; &#x27;so&#x27;</b>"
    assert tag("p", inner, "<b>") == f"<p>{inner}&lt;b&gt;</p>"
    assert join([inner, "<"], " & ") == f"{inner} & &lt;"


def test_attributes_are_escaped_renamed_and_left_out_if_they_are_off() -> None:
    assert tag("i", class_='a"b', data_at=3, hidden=True, open=False, role=None) == (
        '<i class="a&quot;b" data-at="3" hidden></i>'
    )


def test_elements_without_content_are_written_as_their_language_wants() -> None:
    assert tag("br") == "<br>"
    assert tag("line", x1=1) == '<line x1="1"/>'
    assert tag("rect", tag("title", "t")) == "<rect><title>t</title></rect>"


def test_data_for_the_script_can_not_end_its_element() -> None:
    element = data("call", {"text": "</script><b>"})
    assert element.count("<") == 2
    assert json.loads(element.split(">", 1)[1].rsplit("<", 1)[0]) == {"text": "</script><b>"}


def test_a_script_that_could_end_its_element_is_refused() -> None:
    with pytest.raises(AssertionError):
        raw("script", "x = '</script>'")
