"""Weights are read as written, and a file with other contents is rejected in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from duologue.models.onnx_sessions import UnusableModel
from duologue.nlu.safetensors import read_weights


def write_file(path: Path, header: object, data: bytes = b"") -> Path:
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + data)
    return path


def test_an_array_is_read_as_it_was_written(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    header = {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
    path = write_file(tmp_path / "w", header, numbers.tobytes())
    assert (read_weights(path, {"a": (2, 3)})["a"] == numbers).all()


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 2400]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [12, 36]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [-24, 0]},
        {"shape": [2, 3]},
        "nothing",
    ],
)
def test_a_wrong_header_is_one_line(tmp_path: Path, entry: object) -> None:
    path = write_file(tmp_path / "w", {"a": entry}, bytes(24))
    with pytest.raises(UnusableModel, match=r"can't be used: ") as problem:
        read_weights(path, {"a": (2, 3)})
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("content", [b"", b"\x00" * 8, b"\xff" * 64, b"\x10\0\0\0\0\0\0\0not json at all!"])
def test_a_file_in_another_format_is_rejected(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w"
    path.write_bytes(content)
    with pytest.raises(UnusableModel):
        read_weights(path, {"a": (1,)})
