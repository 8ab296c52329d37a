"""Is the turn over? Smart Turn v3.2, on how the last 8 seconds sound.

Hears melody and rhythm; knows no words. The features are log-mel energies as Whisper defines them. Rule:
it judges what it is given; when to ask, and how long to wait after the answer, is for turn-taking.
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
_RANGE = 8.0  # what lies further below the loudest, in powers of ten, is as good as silent
_EPSILON = 1e-7
_SURE = 1e-7  # a float32 can't be surer


# Inside the graph: the log-odds before they are squeezed into a probability, and what the encoder heard, pooled.
_INNER = ("linear_28", "sum_1")


class Judged(NamedTuple):
    """How likely it is over, as log-odds, and what the judgement was made of."""

    logit: float
    embedding: tuple[float, ...]


class SmartTurn:
    """Shared by all conversations: it remembers nothing."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = find_file("smart-turn", ["smart_turn.onnx"], folder)

    def load(self) -> None:
        """Load the model now rather than with the first question."""
        self.hear(np.zeros(RATE_HZ, np.float32))

    def hear(self, audio: Samples) -> Judged:
        """Log-odds that a turn that sounds like this is over, and what the encoder heard."""
        features = log_mel(last_window(checked(audio)))
        logit, pooled = session(self._file, _INNER).run(list(_INNER), {"input_features": features[None]})
        return Judged(float(logit.ravel()[0]), tuple(pooled.ravel().tolist()))

    def complete(self, audio: Samples) -> float:
        """How likely a turn that sounds like this, at 16 kHz and up to now, is over."""
        features = log_mel(last_window(checked(audio)))
        found = session(self._file, _INNER).run(None, {"input_features": features[None]})[0]
        return float(found[0, 0])  # the graph calls it a logit, but ends in a sigmoid

    def logit(self, audio: Samples) -> float:
        """The same as log-odds: what other evidence can be added to."""
        return logit(self.complete(audio))


def logit(probability: float) -> float:
    """The log-odds of a probability, as far as a float32 tells them apart."""
    inside = min(max(probability, _SURE), 1 - _SURE)
    return math.log(inside / (1 - inside))


# -- Features


def last_window(audio: Samples) -> Samples:
    """The last 8 s, with silence before them if there is less."""
    audio = audio[-WINDOW_SAMPLES:]
    return np.pad(audio, (WINDOW_SAMPLES - audio.size, 0))


def log_mel(audio: Samples) -> NDArray[np.float32]:
    """80 log-mel energies every 10 ms, about -1 to 1; the loudness of the whole is taken out."""
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
    """Hann, as one period of a longer one."""
    return np.hanning(_FFT + 1)[:-1].astype(np.float32)


@cache
def _filters() -> NDArray[np.float32]:
    """One triangle for each mel band, a column each, all of the same area (Slaney)."""
    corners = _hertz(np.linspace(0, _mel(RATE_HZ / 2), MELS + 2))
    bins = np.linspace(0, RATE_HZ / 2, _FFT // 2 + 1)[:, None]
    rising = (bins - corners[:-2]) / (corners[1:-1] - corners[:-2])
    falling = (corners[2:] - bins) / (corners[2:] - corners[1:-1])
    triangles = np.maximum(0, np.minimum(rising, falling))
    return (triangles * 2 / (corners[2:] - corners[:-2])).astype(np.float32)


# The mel scale of Slaney: straight up to 1000 Hz, logarithmic above.

_STRAIGHT_HZ = 1000.0
_STRAIGHT_MELS = 15.0
_STEP = math.log(6.4) / 27


def _mel(hertz: float) -> float:
    if hertz < _STRAIGHT_HZ:
        return hertz * _STRAIGHT_MELS / _STRAIGHT_HZ
    return _STRAIGHT_MELS + math.log(hertz / _STRAIGHT_HZ) / _STEP


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    straight = mels * _STRAIGHT_HZ / _STRAIGHT_MELS
    return np.where(mels < _STRAIGHT_MELS, straight, _STRAIGHT_HZ * np.exp(_STEP * (mels - _STRAIGHT_MELS)))
