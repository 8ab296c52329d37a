"""A vowel holds a steady pitch; noise, silence and a click don't."""

from __future__ import annotations

import math
import random

import pytest

from duologue.turns.features import PITCHED_MS_MIN
from duologue.turns.pitch import HOP_MS, steady_pitch_ms

RATE_HZ = 16_000


def tone(pitch_hz: float, ms: int) -> list[float]:
    """A vowel-like sound: a fundamental and two overtones."""
    times = [number / RATE_HZ for number in range(RATE_HZ * ms // 1000)]
    return [sum(math.sin(2 * math.pi * pitch_hz * part * at) / part for part in (1, 2, 3)) for at in times]


@pytest.mark.parametrize("pitch_hz", [90, 120, 200, 300])
def test_a_vowel_has_a_steady_pitch_for_about_its_length(pitch_hz: float) -> None:
    assert 400 - 4 * HOP_MS <= steady_pitch_ms(tone(pitch_hz, 400)) <= 400


def test_noise_silence_and_a_click_have_no_steady_pitch() -> None:
    chance = random.Random(1)
    noise = [chance.uniform(-1, 1) for _ in range(RATE_HZ // 2)]
    silence = [0.0] * (RATE_HZ // 2)
    click = [*silence[:4_000], 1.0, -1.0, *silence[:4_000]]
    for sound in (noise, silence, click, []):
        assert steady_pitch_ms(sound) < PITCHED_MS_MIN


def test_a_pitch_that_jumps_counts_by_its_longest_part() -> None:
    both = [*tone(110, 200), *tone(260, 300)]
    assert steady_pitch_ms(both) <= 300
