"""The legend below a picture."""

from __future__ import annotations

from xml.etree import ElementTree

from duologue.draw.legend import KIND_SIGNS, START, TIMED, Sign, legend_width, paint_legend
from duologue.draw.shapes import Point


def test_every_sign_is_drawn_with_its_meaning_from_left_to_right() -> None:
    signs = [START, TIMED, *KIND_SIGNS, Sign("", "words alone")]
    root = ElementTree.fromstring(f"<g>{''.join(paint_legend(signs, Point(10, 20)))}</g>")
    texts = list(root.iter("text"))
    assert [text.text for text in texts] == [sign.meaning for sign in signs]
    lefts = [float(text.get("x", "")) for text in texts]
    assert lefts == sorted(lefts)
    assert lefts[-1] + Sign("", "words alone").width <= 10 + legend_width(signs) + 0.1
