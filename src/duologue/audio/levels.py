"""How loud, how noisy, how broken: numbers about samples.

0 dBFS is a square wave at full scale; a full sine is at -3. Rule: a level is measured on every frame,
so nothing here costs more than a few microseconds on 20 ms of sound.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from .frames import Samples

SILENCE_DBFS = -120.0  # nothing is told quieter than this
CLIP_LEVEL = 0.999
DC_MAX = 0.01  # an offset above this is worth removing
_SILENCE_RMS = 10 ** (SILENCE_DBFS / 20)
_QUIET_RMS = 10 ** (-80 / 20)


def rms(samples: Samples) -> float:
    """The root of the mean square; 0 for no samples."""
    return math.sqrt(float(np.dot(samples, samples)) / samples.size) if samples.size else 0.0


def peak(samples: Samples) -> float:
    """The largest distance from zero."""
    return max(float(samples.max()), -float(samples.min())) if samples.size else 0.0


def to_dbfs(level: float) -> float:
    """A level from 0 to 1 in decibels below full scale."""
    return 20 * math.log10(level) if level > _SILENCE_RMS else SILENCE_DBFS


def is_clipped(samples: Samples) -> bool:
    """Was it too loud for its recording? Told by three samples in a row at the same end of the scale: one
    alone may just be a loud one."""
    if peak(samples) < CLIP_LEVEL:
        return False
    for at_limit in (samples >= CLIP_LEVEL, samples <= -CLIP_LEVEL):
        if (at_limit[:-2] & at_limit[1:-1] & at_limit[2:]).any():
            return True
    return False


class NoiseFloor:
    """The level of the background, from the quietest moments of the last seconds.

    Minimum statistics: the mean of a few frames, the minimum of that in each stretch, the least of those.
    Speech has gaps, so it raises the floor only when it lasts longer than the window; a background that gets
    louder is believed when the window has passed. A plain mean, because one that decays would take half a
    second to get from speech down to a quiet room.
    """

    def __init__(self, frame_ms: int, window_ms: int = 1_500, smooth_ms: int = 60, stretches: int = 6) -> None:
        assert frame_ms > 0, frame_ms
        self._stretch_frames = max(1, window_ms // stretches // frame_ms)
        self._powers: deque[float] = deque(maxlen=max(1, smooth_ms // frame_ms))
        self._minima: deque[float] = deque(maxlen=stretches)
        self._minimum = math.inf
        self._frames = 0

    def update(self, level: float) -> float:
        """Take the RMS of one frame; returns the RMS of the floor."""
        self._powers.append(level * level)
        smooth = sum(self._powers) / len(self._powers)
        self._minimum = min(self._minimum, smooth)
        self._frames += 1
        if self._frames >= self._stretch_frames:
            self._minima.append(self._minimum)
            self._minimum, self._frames = smooth, 0
        return self.level

    @property
    def level(self) -> float:
        """The RMS of the floor; 0 before the first frame."""
        least = min((self._minimum, *self._minima))
        return math.sqrt(least) if least < math.inf else 0.0


@dataclass(frozen=True, slots=True)
class Levels:
    """What a recording is like. `problems` names what hearing may suffer from."""

    rms_dbfs: float
    peak_dbfs: float
    dc: float
    clipped: bool

    @property
    def problems(self) -> tuple[str, ...]:
        found = {
            "clipped": self.clipped,
            "dc offset": abs(self.dc) > DC_MAX,
            "silent": self.rms_dbfs <= to_dbfs(_QUIET_RMS),
        }
        return tuple(name for name, holds in found.items() if holds)


def measure(samples: Samples) -> Levels:
    """The levels of a whole sound."""
    dc = float(samples.mean(dtype=np.float64)) if samples.size else 0.0
    return Levels(to_dbfs(rms(samples)), to_dbfs(peak(samples)), dc, is_clipped(samples))
