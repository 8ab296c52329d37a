"""The policies of hearing are a value."""

from __future__ import annotations

from duologue.hearing.policy import HearingPolicy
from duologue.turns.endpoint import EasyTurnEndpoint


def test_policies_with_the_same_thresholds_are_equal() -> None:
    assert HearingPolicy() == HearingPolicy()
    assert HearingPolicy(wordless_ms_max=1) != HearingPolicy()


def test_only_a_policy_with_frames_decides_by_frames() -> None:
    assert HearingPolicy().by_frames is None
    easy = EasyTurnEndpoint()
    assert HearingPolicy(endpoint=easy).by_frames is easy
