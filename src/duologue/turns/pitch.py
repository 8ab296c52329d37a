"""Measures for how long a voice had a steady pitch. This distinguishes a weak "four" from a cough.

The method is autocorrelation of a short sound at 4 kHz, in plain Python. It takes about 10 ms for half a second of
audio, so use it only if it is still unclear whether a sound is speech. Rule: a vowel of any language is periodic for a
tenth of a second, but a cough, a knock or a click isn't.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

RATE_HZ = 4_000
HOP_MS = 20
_WINDOW = RATE_HZ * 40 // 1000
_HOP = RATE_HZ * HOP_MS // 1000
_LAGS = range(RATE_HZ // 400, RATE_HZ // 80 + 1)  # a snore is lower, a whistle higher
_STRENGTH_MIN = 0.7  # how well the sound must correlate with itself one period later
_STEP_MAX = 0.12  # how much the period may change from one window to the next, as a logarithm
_QUIET_SHARE = 0.03  # windows with less than this share of the loudest window's energy are ignored


def steady_pitch_ms(samples: Sequence[float], rate_hz: int = 16_000) -> int:
    """The longest time during which the pitch was steady, in milliseconds. Pass a sound that is at most a second
    long."""
    low = _decimated(samples, rate_hz // RATE_HZ)
    windows = [low[at : at + _WINDOW] for at in range(0, len(low) - _WINDOW + 1, _HOP)]
    energies = [sum(value * value for value in window) for window in windows]
    longest = run = 0
    before: float | None = None
    for window, energy in zip(windows, energies, strict=True):
        lag = _period(window) if energy > max(energies) * _QUIET_SHARE else None
        steady = lag is not None and before is not None and abs(math.log(lag / before)) < _STEP_MAX
        run = 0 if lag is None else run + 1 if steady else 1
        longest, before = max(longest, run), lag
    return longest * HOP_MS


def _decimated(samples: Sequence[float], by: int) -> list[float]:
    """The samples at a lower rate: each `by` samples are averaged to one. A constant offset is removed."""
    means = [sum(samples[at : at + by]) / by for at in range(0, len(samples) - by + 1, by)]
    middle = sum(means) / len(means) if means else 0.0
    return [value - middle for value in means]


def _period(window: Sequence[float]) -> float | None:
    """The period of the sound in this window, in samples; None if the sound has no clear period."""
    found = [(_correlation(window, lag), lag) for lag in _LAGS]
    best = max(found)[0]
    if best < _STRENGTH_MIN:
        return None
    # Take the shortest lag that is nearly as good, because a sound also repeats after two periods.
    place = next(at for at, (strength, _) in enumerate(found) if strength >= 0.9 * best)
    while place + 1 < len(found) and found[place + 1] > found[place]:
        place += 1
    return float(found[place][1])


def _correlation(window: Sequence[float], lag: int) -> float:
    left, right = window[:-lag], window[lag:]
    norm = math.sqrt(_product(left, left) * _product(right, right))
    return _product(left, right) / norm if norm else 0.0


def _product(left: Sequence[float], right: Sequence[float]) -> float:
    return float(sum(map(mul, left, right)))
