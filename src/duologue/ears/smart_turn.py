"""End-of-turn detection with the model Smart Turn v3.2, from the sound of the last 8 seconds.

The model uses melody and rhythm, not words. Its input is log-mel energies as Whisper defines them. Rule: the code here
only judges audio. Turn-taking decides when to run the model and how long to wait afterwards.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .model_input import RATE_HZ, NDArray, Samples, checked, find_file, np, session

WINDOW_SAMPLES = 8 * RATE_HZ
MELS = 80
_FFT = 400
_HOP = 160
_POWER_MIN = 1e-10
_RANGE = 8.0  # energies more than this many powers of ten below the loudest are treated as silence
_EPSILON = 1e-7

# The names of values inside the model's graph: the log-odds before the sigmoid, the pooled encoder output, and the
# encoder output of every 20 ms.
_INNER = ("linear_28", "sum_1", "layer_norm_8")
TAIL_STEPS = 12  # the last 240 ms of the encoder output are averaged: how the last syllable ends


class TurnJudgement(NamedTuple):
    """The judgement about a turn. `logit` is the log-odds that the turn is over. `embedding` has two parts, one after
    the other: the encoder's output pooled over all 8 s, and the mean of its output over the last 240 ms."""

    logit: float
    embedding: tuple[float, ...]


class SmartTurn:
    """The end-of-turn model. It keeps no state between calls, so all conversations can share one object."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = find_file("smart-turn", ["smart_turn.onnx"], folder)

    def load(self) -> None:
        """Load the model now rather than at the first pause."""
        self.hear(np.zeros(RATE_HZ, np.float32))

    def hear(self, audio: Samples) -> TurnJudgement:
        """Judge whether a turn is over. `audio` is the sound of the turn until now, at 16 kHz."""
        features = log_mel(last_window(checked(audio)))
        logit, pooled, steps = session(self._file, _INNER).run(list(_INNER), {"input_features": features[None]})
        tail = steps[0, -TAIL_STEPS:].mean(axis=0)
        return TurnJudgement(float(logit.ravel()[0]), (*pooled.ravel().tolist(), *tail.tolist()))


# -- Features


def last_window(audio: Samples) -> Samples:
    """The last 8 s of this audio. Shorter audio is padded with silence at its start."""
    audio = audio[-WINDOW_SAMPLES:]
    return np.pad(audio, (WINDOW_SAMPLES - audio.size, 0))


def log_mel(audio: Samples) -> NDArray[np.float32]:
    """80 log-mel energies for every 10 ms, between about -1 and 1. The overall loudness is normalised first."""
    level = (audio - audio.mean()) / np.sqrt(audio.var() + np.float32(_EPSILON))
    padded = np.pad(level, _FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP][: audio.size // _HOP]
    spectrum = np.fft.rfft(frames * _window(), axis=1)
    power = spectrum.real**2 + spectrum.imag**2
    energy = np.log10(np.maximum(power @ _filters(), _POWER_MIN))
    energy = np.maximum(energy, energy.max() - _RANGE)
    features: NDArray[np.float32] = np.ascontiguousarray((energy.T + 4) / 4, np.float32)
    return features


@cache
def _window() -> NDArray[np.float32]:
    """A periodic Hann window."""
    return np.hanning(_FFT + 1)[:-1].astype(np.float32)


@cache
def _filters() -> NDArray[np.float32]:
    """A matrix with one triangular filter for each mel band, each in its own column. All filters have the same area
    (Slaney's normalisation)."""
    corners = _hertz(np.linspace(0, _mel(RATE_HZ / 2), MELS + 2))
    bins = np.linspace(0, RATE_HZ / 2, _FFT // 2 + 1)[:, None]
    rising = (bins - corners[:-2]) / (corners[1:-1] - corners[:-2])
    falling = (corners[2:] - bins) / (corners[2:] - corners[1:-1])
    triangles = np.maximum(0, np.minimum(rising, falling))
    return (triangles * 2 / (corners[2:] - corners[:-2])).astype(np.float32)


# The mel scale of Slaney: linear up to 1000 Hz, logarithmic above.

_LINEAR_HZ = 1000.0
_LINEAR_MELS = 15.0
_STEP = math.log(6.4) / 27


def _mel(hertz: float) -> float:
    if hertz < _LINEAR_HZ:
        return hertz * _LINEAR_MELS / _LINEAR_HZ
    return _LINEAR_MELS + math.log(hertz / _LINEAR_HZ) / _STEP


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = mels * _LINEAR_HZ / _LINEAR_MELS
    return np.where(mels < _LINEAR_MELS, linear, _LINEAR_HZ * np.exp(_STEP * (mels - _LINEAR_MELS)))
