"""Small ONNX models of a voice, written byte by byte: each phoneme becomes one frame of a fixed length.

The encoding is protobuf's, as onnx.proto describes it. Rule: what a model made here says can be computed by hand.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

FRAME = 256  # samples for each id
_FLOAT, _INT64 = 1, 7
_LARGE = 768


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, content: bytes | str | int) -> bytes:
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    data = content.encode() if isinstance(content, str) else content
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: int) -> bytes:
    body = b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, kind)
    for name, value in attributes.items():
        body += _field(5, _field(1, name) + _field(3, value) + _field(20, 2))
    return _field(1, body)


def _tensor(name: str, shape: Sequence[int], values: Sequence[float], kind: int = _FLOAT) -> bytes:
    data = struct.pack(f"<{len(values)}{'f' if kind == _FLOAT else 'q'}", *values)
    return _field(5, b"".join(_field(1, size) for size in shape) + _field(2, kind) + _field(8, name) + _field(9, data))


def _value(field: int, name: str, kind: int, dims: Sequence[str | int]) -> bytes:
    shape = b"".join(_field(1, _field(2, dim) if isinstance(dim, str) else _field(1, dim)) for dim in dims)
    return _field(field, _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape))))


def _model(graph: bytes) -> bytes:
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))


def piper_model(work: int = 0) -> bytes:
    """A model with Piper's inputs. The frame of an id is a wave as loud as the id is large, and takes as many frames as
    the length scale says. `work` adds so many multiplications of large matrices, for runs that take long."""
    wave = [((at % 32) - 16) / 16 / 200 for at in range(FRAME)]
    nodes = [
        _node("Cast", ["input"], "ids", to=_FLOAT),
        _node("Reshape", ["ids", "column"], "tall"),
        _node("MatMul", ["tall", "wave"], "frames"),
    ]
    last = "frames"
    if work:  # what depends on the input can't be computed when the model is loaded
        nodes += [
            _node("ReduceMean", ["ids"], "level", keepdims=0),
            _node("Mul", ["level", "zero"], "no_level"),
            _node("Add", ["no_level", "one"], "unit"),
            _node("Mul", ["big", "unit"], "big_start"),
        ]
    for number in range(work):
        nodes += [
            _node("MatMul", [f"big{number - 1}" if number else "big_start", "big"], f"big{number}"),
            _node("ReduceMean", [f"big{number}"], f"mean{number}", keepdims=0),
            _node("Mul", [f"mean{number}", "zero"], f"nothing{number}"),
            _node("Add", [last, f"nothing{number}"], f"frames{number}"),
        ]
        last = f"frames{number}"
    nodes += [
        _node("Reshape", [last, "flat"], "output"),
        _node("Mul", ["ids", "zero"], "none"),
        _node("Add", ["none", "one"], "ones"),
        _node("Ceil", ["ones"], "/Ceil_output_0"),
    ]
    tensors = [
        _tensor("column", [3], [1, -1, 1], _INT64),
        _tensor("flat", [3], [1, 1, -1], _INT64),
        _tensor("wave", [1, FRAME], wave),
        _tensor("zero", [], [0.0]),
        _tensor("one", [], [1.0]),
    ]
    if work:
        tensors.append(_tensor("big", [_LARGE, _LARGE], [1 / _LARGE] * _LARGE**2))
    values = [
        _value(11, "input", _INT64, ["batch", "count"]),
        _value(11, "input_lengths", _INT64, ["batch"]),
        _value(11, "scales", _FLOAT, [3]),
        _value(12, "output", _FLOAT, ["batch", 1, "time"]),
    ]
    return _model(b"".join(nodes) + _field(2, "voice") + b"".join(tensors) + b"".join(values))


def kokoro_model() -> bytes:
    """A model with Kokoro's inputs, which says each token as one frame."""
    wave = [((at % 32) - 16) / 16 / 200 for at in range(FRAME)]
    nodes = [
        _node("Cast", ["tokens"], "ids", to=_FLOAT),
        _node("Reshape", ["ids", "column"], "tall"),
        _node("MatMul", ["tall", "wave"], "frames"),
        _node("Reshape", ["frames", "flat"], "audio"),
    ]
    tensors = [
        _tensor("column", [3], [1, -1, 1], _INT64),
        _tensor("flat", [1], [-1], _INT64),
        _tensor("wave", [1, FRAME], wave),
    ]
    values = [
        _value(11, "tokens", _INT64, ["batch", "count"]),
        _value(11, "style", _FLOAT, ["batch", 4]),
        _value(11, "speed", _FLOAT, [1]),
        _value(12, "audio", _FLOAT, ["time"]),
    ]
    return _model(b"".join(nodes) + _field(2, "voice") + b"".join(tensors) + b"".join(values))
