"""Every state has a look that differs from the others and can be read."""

from __future__ import annotations

import re

import pytest

from duologue.core.leaves import JobKind, Leaf, Link, Reply, User, Voice
from duologue.core.views import EVERY_VIEW
from duologue.replay.picture.looks import HUES, INK, LOOKS, PAPER, colours, mix


def test_every_leaf_and_every_state_has_a_look() -> None:
    leaves: dict[str, type[Leaf]] = {"link": Link, "user": User, "voice": Voice, "reply": Reply, "jobs": JobKind}
    for region, kinds in leaves.items():
        names = {"none" if leaf is JobKind.ABSENT else leaf.value for leaf in kinds}
        assert set(LOOKS[region]) - {"refused"} == names
    for name, view in EVERY_VIEW.items():
        assert set(LOOKS[name]) == set(view.states)


@pytest.mark.parametrize("lane_name", list(LOOKS))
def test_no_two_leaves_of_a_lane_look_the_same(lane_name: str) -> None:
    looks = LOOKS[lane_name].values()
    assert len(set(looks)) == len(looks)


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("night", [False, True])
def test_letters_can_be_read_on_their_bars_by_day_and_by_night(night: bool) -> None:
    for line in colours(night):
        shades = dict(re.findall(r"--(\w+): (#\w+);", line))
        hue = line.split()[0]
        if hue != ".grey":
            assert contrast(shades["on"], shades["body"]) >= 4.5, hue
        assert contrast(shades["deep"], shades["soft"]) >= 4.5, hue
        assert contrast(shades["deep"], shades["faint"]) >= 4.5, hue
        assert contrast(shades["strong"], PAPER[night]) >= 3, hue
    assert contrast(INK[night], PAPER[night]) >= 7


def test_colours_mix() -> None:
    assert mix("#ffffff", "#000000", 0.5) == "#808080"
    assert set(HUES) >= {"red", "grey"}
