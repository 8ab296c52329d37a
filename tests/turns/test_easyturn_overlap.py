"""The thresholds of the frame controller decide whether a sound interrupts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.turns.controller import PRESETS, TurnSettings
from duologue.turns.easyturn_overlap import EasyTurnOverlap
from duologue.turns.overlap import SILENCE_MS_END, Judgement, OverlapPolicy

FRAME_MS = 32
SPECIFIED = PRESETS["easyturn-003"]


def bids(settings: TurnSettings, probability: float, energy: float, frames: int = 30) -> int | None:
    """After how many equal frames the sound is a bid; None if it never is."""
    rule = EasyTurnOverlap(settings)
    memory = rule.begin(True)
    for count in range(1, frames + 1):
        memory, judged = rule.frame(memory, probability, FRAME_MS, energy)
        if judged.bid:
            return count
    return None


@pytest.mark.req("T-04")
@pytest.mark.parametrize(
    ("probability", "energy", "is_bid"),
    [(0.61, 0.0, True), (0.6, 0.0, False), (0.0, 0.016, True), (0.0, 0.015, False), (0.6, 0.015, False)],
)
def test_energy_or_voice_above_its_threshold_interrupts(probability: float, energy: float, is_bid: bool) -> None:
    assert (bids(SPECIFIED, probability, energy) is not None) is is_bid


@pytest.mark.req("T-04")
def test_the_thresholds_are_those_of_the_settings() -> None:
    deaf = replace(SPECIFIED, interrupt_energy=None, interrupt_vad=0.9)
    assert bids(deaf, 0.85, 1.0) is None
    assert bids(deaf, 0.95, 0.0) is not None
    assert bids(replace(deaf, interrupt_energy=0.1), 0.0, 0.2) is not None


@pytest.mark.req("T-04", "T-06")
@pytest.mark.parametrize("hysteresis_ms", [0, 150, 200, 250])
def test_it_must_last_for_the_hysteresis(hysteresis_ms: int) -> None:
    frames = bids(replace(SPECIFIED, hysteresis_ms=hysteresis_ms), 0.9, 0.0)
    assert frames is not None
    assert (frames - 1) * FRAME_MS >= hysteresis_ms > (frames - 3) * FRAME_MS


@pytest.mark.req("T-04")
def test_a_sound_that_stops_in_time_is_no_bid() -> None:
    rule = EasyTurnOverlap(SPECIFIED)
    memory, told = rule.begin(True), []
    for probability in [0.9] * 4 + [0.0] * (SILENCE_MS_END // FRAME_MS):
        memory, judged = rule.frame(memory, probability, FRAME_MS, 0.0)
        told.append(judged.bid)
    assert told[:-1] == [None] * (len(told) - 1)
    assert told[-1] is False


@pytest.mark.req("T-06")
def test_the_reason_is_that_of_the_controller() -> None:
    rule = EasyTurnOverlap(replace(SPECIFIED, hysteresis_ms=0))
    memory, _ = rule.frame(rule.begin(True), 0.9, FRAME_MS, 0.0)
    _, judged = rule.frame(memory, 0.9, FRAME_MS, 0.0)
    assert judged.reason == "transition_to_HOLD_interrupt"


def test_words_decide_nothing_but_the_end() -> None:
    rule: OverlapPolicy = EasyTurnOverlap()
    memory = rule.begin(True)
    assert rule.heard(memory, "stop it now", 0.99, False, False)[1].bid is None
    assert rule.heard(memory, "stop it now", 0.99, True, False)[1].bid is False


def test_without_frames_the_length_of_the_sound_decides() -> None:
    rule = EasyTurnOverlap()
    assert rule.lasted(rule.begin(False), 199, "", False).bid is None
    assert rule.lasted(rule.begin(False), 200, "", False) == Judgement(True, "sound_200ms", 0.7)
    assert rule.lasted(rule.begin(False), 200, "on Monday", True).bid is None
    memory, _ = rule.frame(rule.begin(True), 0.1, FRAME_MS, 0.0)
    assert rule.lasted(memory, 5_000, "", False).bid is None, "the ears report frames"
