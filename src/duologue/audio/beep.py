"""Finds the beep of an answering machine, frame by frame. A beep is a single steady, pure tone.

A beep lasts 0.15 to 1.5 s and has a frequency from 400 to 2000 Hz. `tone_in` finds the tone in a frame, and `next_beep`
computes the next state from this tone. Rule: a beep is reported once, when it has ended. A tone directly after another
tone isn't a beep. It may be a note of music, or one of the three tones before "the number is not in service".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from .frames import Samples, to_samples

HZ_MIN, HZ_MAX = 400, 2_000
BEEP_MS_MIN = 120  # counted in whole frames: a beep of 150 ms fills at least six frames of 20 ms
BEEP_MS_MAX = 1_540
GAP_MS = 80  # after this long without the tone, the tone has ended
_ENERGY_MIN = 1e-4  # -40 dBFS
_PURITY_MIN = 0.9  # at least this share of a frame's energy must be at the tone's frequency
_DRIFT_MAX = 0.02  # the frequency may change by this share
_LEVEL_CHANGE_MAX = 2.0  # factor of the amplitude
_LOBE_HZ = 110  # half the width of a pure tone in the spectrum of a frame of 20 ms
_FFT = 1_024


@dataclass(frozen=True, slots=True)
class Tone:
    """A pure tone that fills a frame."""

    hz: float
    level: float  # the root mean square


@dataclass(frozen=True, slots=True)
class BeepState:
    """The newest tone, its length `ms`, and the time `gap_ms` since it stopped. If `is_other` is set, the tone can't be
    a beep."""

    tone: Tone | None = None
    ms: int = 0
    gap_ms: int = 0
    is_other: bool = False


@cache
def _window(samples: int) -> npt.NDArray[np.float32]:
    return np.hanning(samples).astype(np.float32)


def tone_in(samples: Samples, rate_hz: int) -> Tone | None:
    """The tone of this frame; None if the frame is silent or isn't a pure tone."""
    if samples.size < rate_hz // 100:
        return None
    energy = float(np.dot(samples, samples)) / samples.size
    if energy < _ENERGY_MIN:
        return None
    size = max(_FFT, 1 << (samples.size - 1).bit_length())
    power = np.abs(np.fft.rfft(samples * _window(samples.size), size)) ** 2
    step_hz = rate_hz / size
    peak = int(np.argmax(power))
    hz = step_hz * (peak + _offset(power, peak))
    if not HZ_MIN * (1 - _DRIFT_MAX) <= hz <= HZ_MAX * (1 + _DRIFT_MAX):
        return None
    reach = round(_LOBE_HZ / step_hz)
    at_tone = float(power[max(0, peak - reach) : peak + reach + 1].sum())
    return Tone(hz, energy**0.5) if at_tone >= _PURITY_MIN * float(power.sum()) else None


def _offset(power: npt.NDArray[np.float64], peak: int) -> float:
    """The distance from the highest bin of the spectrum to the true peak, estimated with a parabola through three
    bins."""
    if not 0 < peak < power.size - 1:
        return 0.0
    left, middle, right = (float(power[peak + step]) for step in (-1, 0, 1))
    curve = left - 2 * middle + right
    return 0.5 * (left - right) / curve if curve else 0.0


def next_beep(state: BeepState, tone: Tone | None, ms: int) -> tuple[BeepState, bool]:
    """The state after a frame of `ms` milliseconds with this tone, and whether a beep has ended."""
    if tone is not None:
        if state.tone is not None and _is_same(state.tone, tone):
            return replace(state, ms=state.ms + state.gap_ms + ms, gap_ms=0), False
        touches = state.tone is not None and state.ms >= BEEP_MS_MIN // 2
        return BeepState(tone, ms, is_other=touches), False
    if state.tone is None:
        return state, False
    if state.gap_ms + ms < GAP_MS:
        return replace(state, gap_ms=state.gap_ms + ms), False
    return BeepState(), not state.is_other and BEEP_MS_MIN <= state.ms <= BEEP_MS_MAX


def _is_same(one: Tone, other: Tone) -> bool:
    louder, quieter = max(one.level, other.level), min(one.level, other.level)
    return abs(one.hz - other.hz) <= _DRIFT_MAX * one.hz and louder <= _LEVEL_CHANGE_MAX * quieter


class BeepDetector:
    """Finds beeps in a stream of 16-bit PCM."""

    def __init__(self, rate_hz: int = 8_000) -> None:
        self._rate_hz = rate_hz
        self.state = BeepState()

    def hear(self, pcm: bytes) -> bool:
        """Process a frame. Returns whether a beep has ended in it."""
        samples = to_samples(pcm)
        ms = round(samples.size * 1000 / self._rate_hz)
        self.state, has_ended = next_beep(self.state, tone_in(samples, self._rate_hz), ms)
        return has_ended
