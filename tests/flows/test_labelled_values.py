"""Values that an opening message names."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Json
from duologue.flows import parse_flows
from duologue.flows.partial_values import first_values

LOCKER = """
version: 1
slots:
  locker: {type: number, label: locker number, prompt: "Which locker?"}
  owner: {type: name, prompt: "What's your name?"}
  badge: {type: code, pattern: "[A-Z]{2}[0-9]{3}", prompt: "Which badge?"}
flows:
  open_locker:
    description: open a locker
    examples: [I can't open my locker]
    steps: [collect: locker, collect: owner, collect: badge]
"""


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("help, locker 52 is stuck and I've lost the key", {"locker": 52}),
        ("my name is Ivo Marsh and I can't get at my things", {"owner": "Ivo Marsh"}),
        ("I can't open my locker, badge K M five one seven", {"badge": "KM517"}),
        (
            "it's stuck, my name is Ivo Marsh, badge KM517, locker fifty two",
            {"owner": "Ivo Marsh", "badge": "KM517", "locker": 52},
        ),
        ("there are two lockers that I can't open", {}),
        ("the name of the hall is on the door", {}),
    ],
)
def test_a_value_with_its_name_is_taken_from_the_opening(text: str, values: dict[str, Json]) -> None:
    found = first_values(parse_flows(LOCKER), "open_locker", text, "2026-03-04")
    assert {one.slot: one.value for one in found} == values
