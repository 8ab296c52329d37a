"""What all speech models share: where their files are, and which samples they accept.

Rule: samples are checked here before a model gets them, because one NaN in a recurrent state ruins a stream
permanently.
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
    raise ModuleNotFoundError("ears need numpy: pip install 'duologue[speech]'", name="numpy") from None

from duologue.audio.frames import Samples, UnusableAudio

RATE_HZ = 16_000  # every model here takes this rate
_LEVEL_MAX = 16.0  # louder samples are 16-bit numbers that weren't divided by 32768


def find_file(model: str, names: Sequence[str], folder: Path | None = None) -> Path:
    """The path of the first of these files that exists in the model's folder. Raises `ModelMissing` if there is no such
    file."""
    place = folder or model_path(model)
    for name in names:
        if (place / name).is_file():
            return place / name
    raise ModelMissing(model)


def checked(samples: Samples) -> Samples:
    """Check these samples and return them unchanged. Raises `UnusableAudio` if a model can't process them."""
    if not isinstance(samples, np.ndarray) or samples.dtype != np.float32:
        kind = getattr(samples, "dtype", type(samples).__name__)
        raise UnusableAudio(f"samples must be float32 between -1 and 1, not {kind}")
    if samples.ndim != 1:
        raise UnusableAudio(f"samples must be mono: an array with one dimension, not {samples.ndim}")
    # max and min are cheaper than isfinite, and both return NaN if any sample is NaN.
    if samples.size and not (samples.max() <= _LEVEL_MAX and samples.min() >= -_LEVEL_MAX):
        if np.isfinite(samples).all():
            raise UnusableAudio("samples must be between -1 and 1: divide 16-bit numbers by 32768")
        raise UnusableAudio("some samples are NaN or infinite")
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
