"""The picture of the whole machine."""

from __future__ import annotations

from duologue.core.machine import MACHINE
from duologue.draw import REGIONS
from tests.draw.svg_reading import (
    picture,
    state_boxes,
    text_boxes,
)


def test_the_machine_shows_every_region_with_its_states_and_every_rule_with_its_reason() -> None:
    root = picture("machine")
    words = " ".join(content for content, _ in text_boxes(root))
    assert all(name in words for name in REGIONS)
    states = sorted(leaf.value for region in REGIONS.values() for leaf in region)
    assert sorted(state for state, _ in state_boxes(root)) == states
    for rule in MACHINE.rules:
        assert rule.name in words
        assert rule.why in words
