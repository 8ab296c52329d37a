"""Levels: silence and full scale have known values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.audio.frames import Samples
from duologue.audio.levels import SILENCE_DBFS, rms, to_dbfs


def tone(level: float, size: int = 16_000, hz: float = 220) -> Samples:
    return (level * np.sin(2 * np.pi * hz * np.arange(size) / 16_000)).astype(np.float32)


def test_a_full_scale_sine_is_at_minus_three_and_a_square_wave_at_zero() -> None:
    assert to_dbfs(rms(tone(1.0))) == pytest.approx(-3.01, abs=0.01)
    assert to_dbfs(rms(np.sign(tone(1.0)))) == pytest.approx(0, abs=0.1)


def test_silence_and_no_samples_have_a_level() -> None:
    assert to_dbfs(rms(np.zeros(320, np.float32))) == SILENCE_DBFS
    assert to_dbfs(rms(np.empty(0, np.float32))) == SILENCE_DBFS


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=50))
def test_the_mean_level_is_never_above_the_peak(values: list[float]) -> None:
    assert rms(np.array(values, np.float32)) <= max(map(abs, values)) * 1.001 + 1e-12
