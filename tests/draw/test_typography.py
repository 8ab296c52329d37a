"""Text widths and SVG elements."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from duologue.draw import typography
from duologue.draw.shapes import Point


@pytest.mark.parametrize(("value", "text"), [(1.0, "1"), (1.25, "1.2"), (-0.01, "0"), (10.06, "10.1")])
def test_numbers_have_at_most_one_decimal(value: float, text: str) -> None:
    assert typography.number(value) == text


def test_a_longer_or_bolder_text_is_wider() -> None:
    assert typography.text_width("listening", "name") > typography.text_width("idle", "name")
    assert typography.text_width("WWW", "small") > typography.text_width("iii", "small")
    assert typography.text_width("WWW", "label") == typography.text_width("iii", "label"), "monospaced"


def test_a_text_is_escaped_and_carries_its_rows() -> None:
    element = ElementTree.fromstring(typography.text(Point(1, 2), "a < b & c", "name", rows=(3, 1, 3)))
    assert element.text == "a < b & c"
    assert (element.get("x"), element.get("data-rows")) == ("1", "1 3")


def test_every_face_and_hue_is_in_the_stylesheet_twice() -> None:
    style = typography.stylesheet()
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for name in (*typography.FACES, *typography.HUES):
        assert f".{name} " in light
        assert f".{name} " in dark
