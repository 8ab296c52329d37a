"""ONNX models are read and written without the package onnx, and onnxruntime runs what was written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duologue.ears.model_input import NDArray
from duologue.ears.onnx_file import GraphWriter, float_constants
from tests.needs import needs_package


def run(model: bytes, **inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    runtime: Any = needs_package("onnxruntime", "pip install 'duologue[speech]'")
    found: list[NDArray[np.float32]] = runtime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(
        None, inputs
    )
    return found


def table(*rows: list[float]) -> NDArray[np.float32]:
    return np.array(rows, np.float32)


def test_a_written_model_computes_what_its_nodes_say() -> None:
    graph = GraphWriter()
    weights, offset = graph.constant(table([1, 2], [3, 4])), graph.constant(np.array([10, 20], np.float32))
    left, right = graph.split(graph.add("Gemm", "given", weights, offset), [1, 1], axis=1)
    graph.add("Concat", right, left, output="swapped", axis=1)
    graph.add("Pad", "given", graph.constant([0, 0, 0, 1]), output="reflected", mode="reflect")
    model = graph.model({"given": 2}, {"swapped": 2, "reflected": 3})
    swapped, reflected = run(model, given=table([1, 1], [0, 2]))
    assert swapped.tolist() == [[26, 14], [28, 16]]
    assert reflected.tolist() == [[1, 1, 1], [0, 2, 0]]


def test_any_number_of_streams_can_be_given() -> None:
    graph = GraphWriter()
    graph.add("Relu", "given", output="found")
    model = graph.model({"given": 3}, {"found": 3})
    for count in (1, 7):
        assert run(model, given=np.full((count, 3), -1, np.float32))[0].tolist() == [[0, 0, 0]] * count


def field(number: int, value: bytes) -> bytes:
    low, high = len(value) & 127, len(value) >> 7
    return bytes([number << 3 | 2, *((low | 128, high) if high else (low,))]) + value


def constant(name: bytes, values: NDArray[Any], kind: int, dims: bytes) -> bytes:
    """A node `Constant`, encoded by hand."""
    tensor = dims + bytes([2 << 3, kind]) + field(9, values.tobytes())
    return field(1, field(2, name) + field(4, b"Constant") + field(5, field(1, b"value") + field(5, tensor)))


def test_constants_are_read_also_from_the_branches_of_a_graph() -> None:
    outer = constant(b"outer", table([1, 2, 3]), 1, bytes([1 << 3, 1, 1 << 3, 3]))
    inner = constant(b"inner", np.array([4], np.float32), 1, field(1, b"\x01"))  # packed, as other programs write it
    whole = constant(b"whole", np.array([5], np.int64), 7, bytes([1 << 3, 1]))
    branch = field(1, field(2, b"chosen") + field(4, b"If") + field(5, field(1, b"then_branch") + field(6, inner)))
    found = float_constants(bytes([1 << 3, 8]) + field(7, outer + whole + branch))
    assert {name: values.tolist() for name, values in found.items()} == {"outer": [[1, 2, 3]], "inner": [4]}


@pytest.mark.parametrize("file", [b"no model", b"\x3a\xff\xff", b"\x3a\xff\x01abc", b"\x07"])
def test_what_is_not_onnx_is_refused(file: bytes) -> None:
    with pytest.raises(ValueError, match="ONNX"):
        float_constants(file)
