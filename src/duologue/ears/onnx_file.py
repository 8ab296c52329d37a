"""Reads the constants of an ONNX file and writes small ONNX models, without the package onnx.

An ONNX file is a protobuf message. This module reads and writes only the few fields that are needed here. Rule: a file
that isn't ONNX raises `ValueError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .model_input import NDArray, np

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # kinds of fields
_MODEL_GRAPH, _GRAPH_NODE, _NODE_OUTPUT, _NODE_ATTRIBUTE, _ATTRIBUTE_TENSOR, _ATTRIBUTE_GRAPH = 7, 1, 2, 5, 5, 6
_TENSOR_DIMS, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_RAW = 1, 2, 8, 9
_FLOAT, _INT64 = 1, 7  # types of tensors
_IR_VERSION, _OPSET = 8, 16


# -- Reading


def float_constants(model: bytes) -> dict[str, NDArray[np.float32]]:
    """The constants of 32-bit floats in this model, by the names of their outputs. Constants of inner graphs are
    included."""
    found: dict[str, NDArray[np.float32]] = {}
    for graph in _inside(model, _MODEL_GRAPH):
        _collect(graph, found)
    return found


def _collect(graph: bytes, found: dict[str, NDArray[np.float32]]) -> None:
    for node in _inside(graph, _GRAPH_NODE):
        for attribute in _inside(node, _NODE_ATTRIBUTE):
            for tensor in _inside(attribute, _ATTRIBUTE_TENSOR):
                for name in _inside(node, _NODE_OUTPUT):
                    if (values := _floats(tensor)) is not None:
                        found[name.decode()] = values
            for inner in _inside(attribute, _ATTRIBUTE_GRAPH):
                _collect(inner, found)


def _floats(tensor: bytes) -> NDArray[np.float32] | None:
    shape, kind, raw = list[int](), 0, b""
    for number, value in _fields(tensor):
        if number == _TENSOR_DIMS:
            shape += [value] if isinstance(value, int) else list(_varints(value))
        elif number == _TENSOR_TYPE and isinstance(value, int):
            kind = value
        elif number == _TENSOR_RAW and isinstance(value, bytes):
            raw = value
    return np.frombuffer(raw, "<f4").reshape(shape) if kind == _FLOAT and raw else None


def _inside(message: bytes, wanted: int) -> Iterator[bytes]:
    return (value for number, value in _fields(message) if number == wanted and isinstance(value, bytes))


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The number and the value of each field of a message."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        match tag & 7:
            case kind if kind == _VARINT:
                number, at = _varint(message, at)
                yield tag >> 3, number
            case kind if kind in (_FIXED64, _FIXED32):
                at += 8 if kind == _FIXED64 else 4
            case kind if kind == _BYTES:
                size, at = _varint(message, at)
                if at + size > len(message):
                    raise ValueError("the file is truncated or isn't ONNX")
                yield tag >> 3, message[at : at + size]
                at += size
            case _:
                raise ValueError("the file isn't ONNX")


def _varints(packed: bytes) -> Iterator[int]:
    at = 0
    while at < len(packed):
        number, at = _varint(packed, at)
        yield number


def _varint(message: bytes, at: int) -> tuple[int, int]:
    number, shift = 0, 0
    while at < len(message):
        byte = message[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
    raise ValueError("the file is truncated or isn't ONNX")


# -- Writing


class GraphWriter:
    """Builds a graph, node by node. The values in the graph are floats; sizes and positions are whole numbers."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._count = 0

    def constant(self, values: NDArray[np.float32] | Sequence[int]) -> str:
        """Add a constant. Returns its name."""
        name = self._name()
        array, kind = (values, _FLOAT) if isinstance(values, np.ndarray) else (np.array(values, "<i8"), _INT64)
        dims = b"".join(_number(_TENSOR_DIMS, size) for size in array.shape)
        raw = np.ascontiguousarray(array).tobytes()
        tensor = dims + _number(_TENSOR_TYPE, kind) + _bytes(_TENSOR_NAME, name.encode()) + _bytes(_TENSOR_RAW, raw)
        self._constants.append(_bytes(5, tensor))
        return name

    def add(self, kind: str, *inputs: str, output: str = "", axis: int | None = None, mode: str = "") -> str:
        """Add a node with one output. Returns the name of the output."""
        return self._add(kind, inputs, [output or self._name()], axis, mode)[0]

    def split(self, value: str, sizes: Sequence[int], axis: int) -> list[str]:
        """Split a value along an axis. Returns the names of the parts."""
        return self._add("Split", (value, self.constant(sizes)), [self._name() for _ in sizes], axis)

    def model(self, inputs: dict[str, int], outputs: dict[str, int]) -> bytes:
        """The finished model as bytes. Each input and output of the model is a table with one row for each stream.
        `inputs` and `outputs` map the name of each table to its number of columns."""
        graph = b"".join(_bytes(1, node) for node in self._nodes) + _bytes(2, b"graph") + b"".join(self._constants)
        graph += b"".join(_bytes(11, _table(name, columns)) for name, columns in inputs.items())
        graph += b"".join(_bytes(12, _table(name, columns)) for name, columns in outputs.items())
        return _number(1, _IR_VERSION) + _bytes(_MODEL_GRAPH, graph) + _bytes(8, _number(2, _OPSET))

    def _add(
        self, kind: str, inputs: Sequence[str], outputs: list[str], axis: int | None = None, mode: str = ""
    ) -> list[str]:
        node = b"".join(_bytes(1, name.encode()) for name in inputs)
        node += b"".join(_bytes(2, name.encode()) for name in outputs) + _bytes(4, kind.encode())
        if axis is not None:
            node += _bytes(5, _bytes(1, b"axis") + _number(3, axis) + _number(20, 2))
        if mode:
            node += _bytes(5, _bytes(1, b"mode") + _bytes(4, mode.encode()) + _number(20, 3))
        self._nodes.append(node)
        return outputs

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"


def _table(name: str, columns: int) -> bytes:
    shape = _bytes(1, _bytes(2, b"streams")) + _bytes(1, _number(1, columns))
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, _FLOAT) + _bytes(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _encoded(field << 3 | _VARINT) + _encoded(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _encoded(field << 3 | _BYTES) + _encoded(len(value)) + value


def _encoded(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
