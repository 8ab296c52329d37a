"""The style sheet shows each text from the width on at which it fits."""

from __future__ import annotations

from duologue.lab.sim.stage import Stage
from duologue.replay.picture.scale import Scale
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
