"""The picture of the frontier: every setting has a dot, and no two labels overlap."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from duologue.lab.tune.frontier import PolicyPoint
from duologue.lab.tune.picture import HEIGHT, WAIT_MS_SHOWN, WIDTH, frontier_svg, picture_file
from duologue.lab.tune.policies import RECORDED, SILENCES_MS

_SPACE = "{http://www.w3.org/2000/svg}"


def _point(name: str, wait_ms: float, cut_in_pct: float) -> PolicyPoint:
    near = (cut_in_pct * 0.8, cut_in_pct * 1.2)
    waits = (wait_ms * 0.95, wait_ms * 1.05)
    return PolicyPoint(name, 5, cut_in_pct, near, wait_ms, waits, 900, 3, 50, 80, 2, 4, 700.0, 10.0)


POINTS = [
    _point(RECORDED, 612, 21),
    *(_point(f"silence {ms} ms", ms, 9_000 / ms) for ms in SILENCES_MS),
    *(_point(f"easyturn {place}", 600 + place, 20 + place / 10) for place in range(6)),
]


def test_every_setting_has_a_dot_with_its_name() -> None:
    picture = ElementTree.fromstring(frontier_svg(POINTS, POINTS[3]))
    names = {title.text.split(":")[0] for title in picture.iter(f"{_SPACE}title") if title.text}
    assert names == {point.name for point in POINTS}


def test_a_setting_that_waits_very_long_is_not_drawn_but_mentioned() -> None:
    slow = _point("easyturn slow", WAIT_MS_SHOWN + 1, 3)
    picture = frontier_svg([*POINTS, slow], POINTS[3])
    assert "easyturn slow" not in picture
    assert f"1 setting waits longer than {WAIT_MS_SHOWN} ms: see the table" in picture
    assert "easyturn slow" in frontier_svg([*POINTS, slow], slow), "the recommended one is always drawn"


def test_the_marks_of_an_axis_are_round() -> None:
    waits = (300, 400, 700, 1_500)
    picture = ElementTree.fromstring(frontier_svg([_point(f"silence {ms} ms", ms, 20) for ms in waits], None))
    marks = [
        text.text for text in picture.iter(f"{_SPACE}text") if (text.text or "").isdigit() and int(text.text or 0) > 99
    ]
    assert marks == ["200", "400", "600", "800", "1000", "1200", "1400", "1600"]


def test_labels_do_not_overlap_and_lie_inside() -> None:
    picture = ElementTree.fromstring(frontier_svg(POINTS, POINTS[3]))
    known = {point.name for point in POINTS} | {f"{POINTS[3].name} (recommended)"}
    labels = [text for text in picture.iter(f"{_SPACE}text") if text.text in known]
    boxes = [
        (float(one.get("x", 0)), float(one.get("y", 0)), float(one.get("x", 0)) + 6.5 * len(one.text or ""))
        for one in labels
    ]
    assert len(boxes) >= 8
    for place, (left, bottom, right) in enumerate(boxes):
        assert 0 <= left < right <= WIDTH
        assert 0 <= bottom <= HEIGHT - 56, "above the axis"
        for other_left, other_bottom, other_right in boxes[:place]:
            assert abs(bottom - other_bottom) >= 12 or right <= other_left or other_right <= left


def test_the_recorded_and_the_recommended_setting_are_always_labelled() -> None:
    text = frontier_svg(POINTS, POINTS[3])
    assert f">{RECORDED}</text>" in text
    assert f">{POINTS[3].name} (recommended)</text>" in text


def test_the_file_brings_its_own_style_for_light_and_dark() -> None:
    text = picture_file(POINTS, None)
    ElementTree.fromstring(text)
    assert re.search(r"<style>.*prefers-color-scheme: dark", text, re.DOTALL)


def test_a_comparison_without_known_ends_is_an_empty_picture() -> None:
    ElementTree.fromstring(frontier_svg([POINTS[0]._replace(ends=0)], None))
