"""Levels: what is loud, what is background, what is broken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.audio.frames import Samples
from duologue.audio.levels import SILENCE_DBFS, NoiseFloor, is_clipped, measure, peak, rms, to_dbfs

FRAME_MS = 20
NOTHING = np.empty(0, np.float32)


def tone(level: float, size: int = 16_000, hz: float = 220) -> Samples:
    return (level * np.sin(2 * np.pi * hz * np.arange(size) / 16_000)).astype(np.float32)


def noise(level: float, size: int, seed: int = 1) -> Samples:
    return (level * np.random.default_rng(seed).standard_normal(size)).astype(np.float32)


def floor_of(sound: Samples) -> float:
    floor = NoiseFloor(FRAME_MS)
    for frame in sound[: sound.size // 320 * 320].reshape(-1, 320):
        floor.update(rms(frame))
    return to_dbfs(floor.level)


def test_a_full_sine_is_at_minus_three_and_a_square_at_zero() -> None:
    assert to_dbfs(rms(tone(1.0))) == pytest.approx(-3.01, abs=0.01)
    assert to_dbfs(rms(np.sign(tone(1.0)))) == pytest.approx(0, abs=0.1)


def test_silence_and_no_samples_have_a_level() -> None:
    assert to_dbfs(rms(np.zeros(320, np.float32))) == SILENCE_DBFS
    assert to_dbfs(rms(NOTHING)) == to_dbfs(peak(NOTHING)) == SILENCE_DBFS


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=50))
def test_the_mean_level_is_never_above_the_peak(values: list[float]) -> None:
    samples = np.array(values, np.float32)
    assert peak(samples) == max(map(abs, values))
    assert rms(samples) <= peak(samples) * 1.001 + 1e-12


# -- The floor


def test_the_floor_of_steady_noise_is_near_its_level() -> None:
    assert floor_of(noise(0.01, 48_000)) == pytest.approx(-40, abs=2)


def test_speech_with_gaps_does_not_raise_the_floor() -> None:
    background = noise(0.003, 16_000 * 6)
    spoken = background.copy()
    for start in range(0, spoken.size, 16_000):
        spoken[start : start + 12_000] += tone(0.3, 12_000)  # three quarters of every second
    assert floor_of(spoken) == pytest.approx(floor_of(background), abs=2)


def test_the_floor_falls_at_once_and_rises_when_the_window_has_passed() -> None:
    floor = NoiseFloor(FRAME_MS, window_ms=1_200)
    for _ in range(50):
        floor.update(0.1)
    for _ in range(15):
        floor.update(0.001)
    assert floor.level < 0.01
    for _ in range(55):
        floor.update(0.1)
    assert floor.level < 0.01, "1.1 s later the quiet moment still counts"
    for _ in range(20):
        floor.update(0.1)
    assert floor.level == pytest.approx(0.1, rel=0.1)


def test_a_floor_without_a_frame_is_zero() -> None:
    assert NoiseFloor(FRAME_MS).level == 0.0


# -- What is broken


def test_clipping_is_told_by_flat_tops() -> None:
    assert is_clipped(tone(1.5).clip(-1, 1))
    assert not is_clipped(tone(0.9))
    assert not is_clipped(NOTHING)


@pytest.mark.parametrize(("run", "clipped"), [(1, False), (2, False), (3, True)])
@pytest.mark.parametrize("end", [1.0, -1.0])
def test_one_loud_sample_is_no_clipping(run: int, clipped: bool, end: float) -> None:
    samples = tone(0.5, 320)
    samples[:run] = end
    assert is_clipped(samples) is clipped


def test_a_jump_from_one_end_to_the_other_is_no_run() -> None:
    assert not is_clipped(np.array([0, 1, -1, 1, -1, 0], np.float32))


def test_a_recording_is_told_with_its_problems() -> None:
    assert measure(tone(0.5)).problems == ()
    assert measure(tone(2.0).clip(-1, 1)).problems == ("clipped",)
    assert measure(tone(0.3) + np.float32(0.1)).problems == ("dc offset",)
    assert measure(np.zeros(100, np.float32)).problems == ("silent",)
    assert measure(NOTHING).problems == ("silent",)
