"""The request that a state waits for is built from the state alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duologue.dialogue.codec import from_json, to_json
from duologue.dialogue.flow import Domain
from duologue.dialogue.requests import request_of
from duologue.dialogue.state import DialogueState
from tests.dialogue.dialogue_flows import (
    OTHER,
    TRANSFER,
    at_amount,
    at_confirmation,
)

BUSY_TALKERS = {
    "understanding": lambda: at_amount().says(OTHER),
    "validating_slot": lambda: at_amount().says("fifty"),
    "executing_action": lambda: at_confirmation().says("yes"),
}


def written(state: DialogueState, about: Domain = TRANSFER) -> dict[str, Any]:
    return json.loads(json.dumps(to_json(about, state)))  # type: ignore[no-any-return]


@pytest.mark.req("D-14")
@pytest.mark.parametrize("phase", BUSY_TALKERS)
def test_a_restored_dialogue_repeats_its_request(phase: str) -> None:
    talker = BUSY_TALKERS[phase]()
    assert talker.phase == phase
    again = from_json(TRANSFER, written(talker.state))
    assert request_of(TRANSFER, again) == talker.effects[-1]
