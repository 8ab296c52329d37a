"""Voice and silence of a turn are counted frame by frame."""

from __future__ import annotations

import pytest

from duologue.turns.voicing import EVIDENCE_PER_FRAME_MAX, FRAME_MS, VOICE_OFF, VOICE_ON, Voicing, log_odds


def after(*frames: tuple[float, float]) -> Voicing:
    voicing = Voicing()
    for vad, level_db in frames:
        voicing = voicing.heard(vad, level_db)
    return voicing


def test_voiced_and_silent_time_are_counted() -> None:
    voicing = after((0.1, -60.0), (0.9, -20.0), (0.9, -20.0), (0.1, -50.0), (0.1, -60.0), (0.1, -60.0))
    assert voicing.begun
    assert not voicing.voiced
    assert (voicing.voiced_ms, voicing.silence_ms) == (2 * FRAME_MS, 3 * FRAME_MS)


def test_a_voice_begins_at_one_probability_and_ends_below_a_lower_one() -> None:
    between = (VOICE_ON + VOICE_OFF) / 2
    assert not after((between, -20.0)).begun
    assert after((VOICE_ON, -20.0), (between, -30.0)).voiced
    assert not after((VOICE_ON, -20.0), (VOICE_OFF - 0.01, -30.0)).voiced


def test_the_levels_start_before_the_voice_and_end_with_the_first_silent_frame() -> None:
    voicing = after((0.1, -60.0), (0.2, -50.0), (0.3, -40.0), (0.9, -20.0), (0.1, -45.0), (0.1, -55.0))
    assert voicing.levels_db == (-50.0, -40.0, -20.0, -45.0)


def test_no_single_frame_is_all_of_the_evidence() -> None:
    assert after((1.0, -20.0)).evidence == EVIDENCE_PER_FRAME_MAX
    assert after((1.0, -20.0), (1.0, -20.0)).evidence == 2 * EVIDENCE_PER_FRAME_MAX


@pytest.mark.parametrize(("silent", "stretch"), [(5, 3), (6, 1)])
def test_a_stretch_has_no_long_silence(silent: int, stretch: int) -> None:
    voicing = after(*[(1.0, -20.0)] * 2, *[(0.1, -60.0)] * silent, (1.0, -20.0))
    assert (voicing.stretch_ms, voicing.voiced_ms) == (stretch * FRAME_MS, 3 * FRAME_MS)
    assert voicing.stretch_evidence == stretch * EVIDENCE_PER_FRAME_MAX


def test_the_next_turn_starts_from_nothing() -> None:
    voicing = after((0.9, -20.0), (0.1, -60.0)).forgotten()
    assert (voicing.begun, voicing.voiced_ms, voicing.silence_ms, voicing.evidence) == (False, 0, 0, 0.0)
    assert voicing.levels_db == ()


def test_a_long_turn_keeps_a_bounded_number_of_levels() -> None:
    voicing = after(*[(0.9, -20.0 - place % 5) for place in range(2_000)])
    assert len(voicing.levels_db) == 12_000 // FRAME_MS
    assert voicing.voiced_ms == 2_000 * FRAME_MS


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_certainty_has_finite_odds(probability: float) -> None:
    assert abs(log_odds(probability)) < 10
    assert log_odds(0.5) == 0.0
