"""How loud a piece of audio is.

0 dBFS is the level of a square wave at full scale. A sine at full scale is at -3 dBFS. Rule: each function here
must take only a few microseconds for 20 ms of audio, because levels are measured on every frame.
"""

from __future__ import annotations

import math

import numpy as np

from .frames import Samples

SILENCE_DBFS = -120.0  # the lowest level that is reported
_SILENCE_RMS = 10 ** (SILENCE_DBFS / 20)


def rms(samples: Samples) -> float:
    """The root mean square of the samples; 0 if there are no samples."""
    return math.sqrt(float(np.dot(samples, samples)) / samples.size) if samples.size else 0.0


def to_dbfs(level: float) -> float:
    """Convert a level (a number between 0 and 1) to decibels relative to full scale. The result is at least
    SILENCE_DBFS."""
    return 20 * math.log10(level) if level > _SILENCE_RMS else SILENCE_DBFS
