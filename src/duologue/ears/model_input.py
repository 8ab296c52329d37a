"""What the models that hear have in common: where their files are, and which samples they take.

Rule: what a model gets was checked here, because one NaN in a recurrent state makes a stream deaf for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from duologue.models.cache import ModelMissing, model_path
from duologue.models.onnx_sessions import OnnxSession, UnusableModel, session

try:
    import numpy as np
    from numpy.typing import NDArray
except ModuleNotFoundError as missing:
    if missing.name != "numpy":
        raise
    raise ModuleNotFoundError("hearing needs numpy: pip install 'duologue[speech]'", name="numpy") from None

from duologue.audio.frames import Samples, UnusableAudio

RATE_HZ = 16_000  # of every model here
_LEVEL_MAX = 16.0  # far above full scale: those are 16-bit numbers that nobody divided


def find_file(model: str, names: Sequence[str], folder: Path | None = None) -> Path:
    """The first of these files that a model's folder has."""
    place = folder or model_path(model)
    for name in names:
        if (place / name).is_file():
            return place / name
    raise ModelMissing(model)


def checked(samples: Samples) -> Samples:
    """These samples, or UnusableAudio in one line."""
    if not isinstance(samples, np.ndarray) or samples.dtype != np.float32:
        kind = getattr(samples, "dtype", type(samples).__name__)
        raise UnusableAudio(f"samples are float32 between -1 and 1, not {kind}")
    if samples.ndim != 1:
        raise UnusableAudio(f"samples are mono, an array of one dimension and not of {samples.ndim}")
    # Two passes are cheaper than isfinite, and a NaN is passed on by both.
    if samples.size and not (samples.max() <= _LEVEL_MAX and samples.min() >= -_LEVEL_MAX):
        if np.isfinite(samples).all():
            raise UnusableAudio("samples lie between -1 and 1: divide 16-bit numbers by 32768")
        raise UnusableAudio("some samples are no numbers (NaN or infinite)")
    return samples


__all__ = [
    "RATE_HZ",
    "NDArray",
    "OnnxSession",
    "Samples",
    "UnusableAudio",
    "UnusableModel",
    "checked",
    "find_file",
    "np",
    "session",
]
