"""Weights out of a safetensors file, mapped into memory: read when they are used, shared between processes.

Knows the format and nothing of the network. Rule: a file that isn't what it says is told in one line that
names it, before anybody computes with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duologue.core.errors import DuologueError

_HEADER_BYTES_MAX = 1_000_000


class UnusableModel(DuologueError):
    """A model's file is there and can't be used. The message is one line that names it."""


def read_weights(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[np.float32]]:
    """These arrays; each must have this shape and hold 32-bit numbers. Nobody may write to them."""
    try:
        mapped: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        begins, header = _header(mapped)
        return {name: _array(mapped[begins:], header[name], shape) for name, shape in shapes.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as problem:
        raise UnusableModel(f"{path} can't be used: {type(problem).__name__}: {problem}") from None


def _header(mapped: NDArray[np.uint8]) -> tuple[int, dict[str, Any]]:
    size = int.from_bytes(mapped[:8].tobytes(), "little")
    if not 2 <= size <= min(_HEADER_BYTES_MAX, mapped.size - 8):
        raise ValueError("it has no header")
    return 8 + size, json.loads(mapped[8 : 8 + size].tobytes())


def _array(data: NDArray[np.uint8], entry: dict[str, Any], shape: tuple[int, ...]) -> NDArray[np.float32]:
    if entry["dtype"] != "F32" or tuple(entry["shape"]) != shape:
        raise ValueError(f"{entry['dtype']} {entry['shape']} where F32 {list(shape)} was expected")
    first, last = entry["data_offsets"]
    if not 0 <= first <= last <= data.size:
        raise ValueError("the file is cut off")
    return data[first:last].view(np.float32).reshape(shape)
