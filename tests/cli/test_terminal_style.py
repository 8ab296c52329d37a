"""Colours, marks and numbers can be read on every terminal."""

from __future__ import annotations

import pytest

from duologue.cli.terminal_style import CHIPS, LOOKS, PLAIN_MARKS, colour_of, look_of, write_ms
from duologue.core.leaves import JobKind, Leaf, Link, Reply, User, Voice
from duologue.core.views import VIEWS


@pytest.mark.parametrize("region", list(LOOKS))
@pytest.mark.parametrize("plain", [False, True])
def test_the_marks_of_a_region_differ_without_colour(region: str, plain: bool) -> None:
    marks = [look.mark.translate(PLAIN_MARKS) if plain else look.mark for look in LOOKS[region].values()]
    assert len(set(marks)) == len(marks)


def test_every_leaf_has_a_look() -> None:
    regions: dict[str, type[Leaf]] = {"link": Link, "user": User, "voice": Voice, "reply": Reply, "jobs": JobKind}
    for region, leaves in regions.items():
        names = {"none" if leaf is JobKind.ABSENT else leaf.value for leaf in leaves}
        assert set(LOOKS[region]) == names
    assert look_of("jobs", "tool+dispatched") == look_of("jobs", "tool")


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colour", list(CHIPS))
def test_colours_can_be_read_on_black_and_on_white(colour: str) -> None:
    assert contrast(colour, "#000000") >= 3.5
    assert contrast(colour, "#ffffff") >= 3.5
    assert contrast(CHIPS[colour], "#ffffff") >= 4.5


@pytest.mark.parametrize("state", VIEWS["lifecycle"].states)
def test_every_lifecycle_state_has_its_own_colour(state: str) -> None:
    assert [other for other in VIEWS["lifecycle"].states if colour_of(other) == colour_of(state)] == [state]


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (999, "999 ms"), (1_000, "1.0 s"), (59_999, "59.9 s"), (60_000, "1 min"), (125_400, "2 min 5 s")],
)
def test_durations_are_written_for_people(ms: int, text: str) -> None:
    assert write_ms(ms) == text
