"""Reads weights from a safetensors file.

Large arrays are memory-mapped: they are read only when they are used, and processes share the memory. Small arrays are
read immediately. Rule: a file whose contents aren't as expected is rejected with an error that names the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duologue.models.onnx_sessions import UnusableModel

_HEADER_BYTES_MAX = 1_000_000
_MAPPED_BYTES_MIN = 10_000_000

Floats = NDArray[np.float32]


def read_weights(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Floats]:
    """A dict of the arrays whose names are listed in `shapes`. Each array must have the given shape and contain 32-bit
    floats. Don't change the arrays: the large ones are read-only."""
    try:
        begins, header = _header(path)
        return {name: _array(path, begins, header[name], shape) for name, shape in shapes.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
        raise UnusableModel(f"{path} can't be used: {type(problem).__name__}: {problem}") from None


def _header(path: Path) -> tuple[int, dict[str, Any]]:
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= min(_HEADER_BYTES_MAX, path.stat().st_size - 8):
            raise ValueError("the file has no valid header")
        return 8 + size, json.loads(file.read(size))


def _array(path: Path, begins: int, entry: dict[str, Any], shape: tuple[int, ...]) -> Floats:
    if entry["dtype"] != "F32" or tuple(entry["shape"]) != shape:
        raise ValueError(
            f"an array has the type {entry['dtype']} and the shape {entry['shape']}; expected F32 and {list(shape)}"
        )
    first, last = entry["data_offsets"]
    size = 4 * prod(shape)
    if last - first != size or not 0 <= first <= last <= path.stat().st_size - begins:
        raise ValueError("the file is truncated, or the position of an array is wrong")
    if size >= _MAPPED_BYTES_MIN:
        return np.memmap(path, np.float32, "r", begins + first, shape)
    return np.fromfile(path, np.float32, prod(shape), offset=begins + first).reshape(shape)
