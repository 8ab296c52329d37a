"""Running ONNX models: each file is loaded once and shared by all conversations of the process.

Knows nothing of speech. A session may be run from many threads at once, and every run takes one thread:
conversations are many, cores are few. Rule: what a model gets was checked here, because one NaN in a
recurrent state makes a stream deaf for good.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from duologue.core.errors import DuologueError
from duologue.models.cache import ModelMissing, model_path

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

_sessions: dict[Path, Session] = {}
_loading = threading.Lock()


class UnusableModel(DuologueError):
    """A model's file is there and can't be run. The message is one line that names it."""


class Session(Protocol):
    """What is used of an onnxruntime session."""

    def run(self, output_names: Sequence[str] | None, input_feed: dict[str, Any]) -> list[NDArray[Any]]: ...

    def get_inputs(self) -> list[Any]: ...

    def get_outputs(self) -> list[Any]: ...


def session(path: Path, inner: Sequence[str] = ()) -> Session:
    """The one session of this file. `inner`: values inside the graph that it shall give as well."""
    with _loading:
        if path not in _sessions:
            _sessions[path] = _load(path, inner)
        return _sessions[path]


def _load(path: Path, inner: Sequence[str]) -> Session:
    ort = _onnxruntime()
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # the length of the audio is different in every run
    options.log_severity_level = 3  # errors only
    try:
        # Two protobuf messages in a row are one, so outputs can be added at the end of the file.
        model = path.read_bytes() + b"".join(map(_output, inner)) if inner else str(path)
        loaded: Session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as failure:  # noqa: BLE001 - onnxruntime has no class of its own for this
        raise UnusableModel(f"{path} can't be loaded: {_first_line(failure)}") from None
    return loaded


def _output(name: str) -> bytes:
    """The path model.graph.output.name of the ONNX format, holding this name."""
    message = name.encode()
    for tag in (0x0A, 0x62, 0x3A):
        message = bytes([tag, len(message)]) + message
    return message


def _first_line(failure: BaseException) -> str:
    return next(iter(str(failure).splitlines()), type(failure).__name__)


def _onnxruntime() -> Any:
    try:
        return importlib.import_module("onnxruntime")
    except ModuleNotFoundError as missing:
        if missing.name != "onnxruntime":
            raise
        wanted = "hearing needs onnxruntime: pip install 'duologue[speech]'"
        raise ModuleNotFoundError(wanted, name="onnxruntime") from None


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
    "Samples",
    "Session",
    "UnusableAudio",
    "UnusableModel",
    "checked",
    "find_file",
    "np",
    "session",
]
