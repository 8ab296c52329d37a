"""The state of a telephone call."""

from __future__ import annotations

from duologue.lines.phone.call.state import STAGE_MEANINGS, CallStage, CallState


def test_every_stage_has_a_meaning() -> None:
    assert set(STAGE_MEANINGS) == set(CallStage)


def test_a_new_call_waits_for_nothing() -> None:
    assert (CallState().stage, CallState().due, CallState().taker) == (CallStage.NEW, 0, 0)
