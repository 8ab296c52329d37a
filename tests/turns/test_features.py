"""The features of a pause: was it speech, and what do its words and levels say?"""

from __future__ import annotations

from typing import Any

import pytest

from duologue.turns.endpoint import (
    policy,
)
from duologue.turns.features import (
    CONFIDENCE_SURE,
    EVIDENCE_SURE,
    PITCHED_MS_MIN,
    PauseFeatures,
    TextCues,
    cues_of,
    is_turn,
    shape_of,
)


@pytest.mark.parametrize("name", ["combined", "semantic", "vad", "server"])
@pytest.mark.parametrize(
    "heard",
    [
        {"text": ""},
        {"text": "", "pitched_ms": PITCHED_MS_MIN - 1},
        {"text": "Um."},
        {"text": "Mm-hmm.", "pitched_ms": 0},
        {"text": "Okay.", "confidence": CONFIDENCE_SURE - 0.01},
        {"pitched_ms": 0},
    ],
    ids=str,
)
def test_a_weak_voice_without_words_or_pitch_is_no_turn(name: str, heard: dict[str, Any]) -> None:
    weak = PauseFeatures(voiced_ms=96, evidence=EVIDENCE_SURE - 0.1, turn_logit=4.0, **heard)
    wait = policy(name).wait(weak)
    assert wait.wait_ms is None
    assert wait.reasons == (("by_server",) if name == "server" else ("no_voice",))


@pytest.mark.req("V-06")
@pytest.mark.parametrize("name", ["combined", "semantic", "vad", "server"])
@pytest.mark.parametrize(
    "heard",
    [
        {"text": "", "pitched_ms": PITCHED_MS_MIN},
        {"text": "Four.", "confidence": CONFIDENCE_SURE},
        {"text": "Okay.", "confidence": 0.1, "pitched_ms": 200},
        {"text": "Yes.", "confidence": None},
        {},  # nothing else is known: the voice alone decides
    ],
    ids=str,
)
def test_a_weak_voice_with_pitch_or_sure_words_is_a_turn(name: str, heard: dict[str, Any]) -> None:
    weak = PauseFeatures(voiced_ms=96, evidence=EVIDENCE_SURE - 0.1, turn_logit=4.0, **heard)
    assert policy(name).wait(weak).wait_ms is not None


def test_a_strong_voice_is_a_turn_whatever_was_read() -> None:
    for text in (None, "", "um"):
        assert is_turn(PauseFeatures(evidence=EVIDENCE_SURE, pitched_ms=0, text=text, confidence=0.0))


@pytest.mark.parametrize(
    ("text", "cues"),
    [
        ("", TextCues(0, False, False, 0, 0.0, False)),
        ("Yes.", TextCues(1, False, False, 0, 0.0, True)),
        ("I want to go to", TextCues(5, False, True, 0, 0.0, False)),
        ("well, um", TextCues(2, False, True, 0, 0.0, False)),
        ("a flight to Rome,", TextCues(4, True, False, 0, 0.0, False)),
        ("my number is five five 2", TextCues(6, False, False, 3, 0.5, False)),
    ],
)
def test_the_end_of_a_text_has_its_cues(text: str, cues: TextCues) -> None:
    assert cues_of(text) == cues


def test_the_shape_of_a_turn_tells_a_falling_level_from_a_held_one() -> None:
    held = shape_of([-20.0] * 30 + [-60.0] * 2, 32)
    falling = shape_of([-20.0] * 20 + [-20.0 - 2 * step for step in range(10)] + [-60.0] * 2, 32)
    assert held is not None
    assert falling is not None
    assert held.slope_db_s == 0
    assert falling.slope_db_s < -20
    assert falling.fall_db < held.fall_db
    assert held.tail_ms == 64
    assert shape_of([-20.0] * 3, 32) is None
