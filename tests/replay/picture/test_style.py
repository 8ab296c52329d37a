"""The style sheet shows each text from the width on at which it fits."""

from __future__ import annotations

import re

import pytest

from duologue.lab.sim.stage import Stage
from duologue.replay.picture.scale import Scale
from duologue.replay.picture.style import style_sheet
from duologue.replay.timeline import read_timeline
from tests.replay.picture.drawn_page import (
    Node,
)


def test_the_style_shows_each_text_at_its_width(demo: Stage, page: Node) -> None:
    style = page.one("style").text
    used = {cls for node in page.all() for cls in (node.attributes.get("class") or "").split() if cls[0] == "w"}
    for cls in used - {"who"}:
        assert f".{cls} {{ display: inline; }}" in style
    assert f"min-width: {next(Scale(read_timeline(demo.records).length_ms).widths())}px" in style


@pytest.mark.parametrize("length_ms", [1, 167_000, 3_600_000])
def test_both_colour_schemes_define_every_colour_that_the_rules_use(length_ms: int) -> None:
    sheet = style_sheet(Scale(length_ms))
    day, night = sheet.split("@media (prefers-color-scheme: dark)")
    used = set(re.findall(r"var\(--([\w]+)\)", sheet))
    rules_own = set(re.findall(r"--(\w+):", night.split("\n}\n", 1)[1])) | {"height"}
    for scheme in (day, night.split("\n}\n", 1)[0]):
        assert used - rules_own <= set(re.findall(r"--(\w+):", scheme))


def test_braces_are_balanced_and_nothing_is_loaded() -> None:
    sheet = style_sheet(Scale(60_000))
    assert sheet.count("{") == sheet.count("}")
    assert not re.findall(r"url\((?!#)|@import|</", sheet)
