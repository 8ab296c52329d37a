"""Silero's network for 16 kHz, computed by numpy: one frame of one stream at a time.

The network is small: for one frame, an ONNX runtime spends more time on its own overhead than on multiplying matrices.
In a real call, the overhead is even larger: a frame comes only every 32 ms, and in between, other code fills the caches
of the CPU. Rule: the weights come from the model's file, and the results differ from those of the
file's own graph only by rounding.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from .model_input import NDArray, Samples, np
from .onnx_file import float_constants

FRAME_SAMPLES = 512
CONTEXT_SAMPLES = 64  # how many samples of the previous frame the network gets again
MEMORY = 128  # numbers in each half of the network's memory
INPUT_SAMPLES = CONTEXT_SAMPLES + FRAME_SAMPLES
_HOP, _WINDOW, _BINS = 128, 256, 129
_STEPS = 4  # windows in one frame
_FIRST, _SECOND = 128, 64  # how many numbers the first two layers have for each step
_PREFIX = "If_0_then_branch__Inline_0__"  # where the file has the weights for 16 kHz
_ENCODER = [f"encoder.{layer}.reparam_conv.{kind}" for layer in range(4) for kind in ("weight", "bias")]
_DECODER = [f"decoder.{name}" for name in ("rnn.weight_ih", "rnn.weight_hh", "rnn.bias_ih", "rnn.bias_hh")]
_NAMES = {"stft.forward_basis_buffer", *_ENCODER, *_DECODER, "decoder.decoder.2.weight", "decoder.decoder.2.bias"}

Numbers: TypeAlias = NDArray[np.float32]

# numpy takes longer for Python's numbers
_ZERO, _HALF, _ONE = (np.array(number, np.float32) for number in (0, 0.5, 1))


class SileroNet:
    """The weights of the network. Many streams and threads may use one object."""

    def __init__(self, file: bytes) -> None:
        """Read the weights from the bytes of the model's file. Raises `ValueError` if it isn't the expected model."""
        weights = read_weights(file)
        kernels = [weights[f"encoder.{layer}.reparam_conv.weight"].transpose(2, 1, 0) for layer in range(4)]
        biases = [weights[f"encoder.{layer}.reparam_conv.bias"] for layer in range(4)]
        # Steps beyond the edges of the frame are zero, so some weights of the later layers are never used.
        used = (kernels[0], kernels[1], kernels[2][1:], kernels[3][1:2])
        self._layers = [_with_bias(_flat(kernel), bias) for kernel, bias in zip(used, biases, strict=True)]
        recurrent = np.concatenate((weights["decoder.rnn.weight_ih"], weights["decoder.rnn.weight_hh"]), axis=1)
        gate_bias = weights["decoder.rnn.bias_ih"] + weights["decoder.rnn.bias_hh"]
        self._gates = _with_bias(_gates(recurrent), _gates(gate_bias))
        self._gates_of_hidden = self._gates[MEMORY:-1]
        self._cosines, self._sines = _half_waves(weights["stft.forward_basis_buffer"][:, 0].T)
        self._last = np.ascontiguousarray(weights["decoder.decoder.2.weight"][0, :, 0])
        self._offset = float(weights["decoder.decoder.2.bias"][0])
        self._spare: list[_Workspace] = []  # workspaces that no thread is using
        self._of_silence = self._gates_of_silence()

    def hear(self, context: Samples, frame: Samples, hidden: Numbers, cell: Numbers) -> tuple[float, Numbers, Numbers]:
        """Process a frame. Returns the probability of speech in it, and the two halves of the LSTM's memory after it.
        `context` holds the last samples of the previous frame. `hidden` and `cell` are the two halves of the memory
        after the previous frame."""
        space = self._spare.pop() if self._spare else _Workspace()
        self._encode(space, context, frame)
        space.hidden[...] = hidden
        np.matmul(space.recurrent, self._gates, out=space.gates)
        answer = self._remember(space, cell)
        self._spare.append(space)
        return answer

    def hear_silence(self, hidden: Numbers, cell: Numbers) -> tuple[float, Numbers, Numbers]:
        """Process a frame of digital silence that follows another such frame. Returns the same as `hear`. The encoder's
        output for such a frame is always the same and was computed before, so only the LSTM runs."""
        space = self._spare.pop() if self._spare else _Workspace()
        np.matmul(hidden, self._gates_of_hidden, out=space.gates)
        np.add(space.gates, self._of_silence, out=space.gates)
        answer = self._remember(space, cell)
        self._spare.append(space)
        return answer

    def _gates_of_silence(self) -> Numbers:
        space = _Workspace()
        self._encode(space, np.zeros(CONTEXT_SAMPLES, np.float32), np.zeros(FRAME_SAMPLES, np.float32))
        gates: Numbers = space.recurrent @ self._gates
        return gates

    def _encode(self, space: _Workspace, context: Samples, frame: Samples) -> None:
        """Compute the spectra of four windows, then four convolutions with 4, 2, 1 and 1 steps."""
        space.context[...] = context
        space.frame[...] = frame
        space.end[...] = space.reflected
        np.add(space.rising, space.falling, out=space.even)
        np.subtract(space.rising, space.falling, out=space.odd)
        np.matmul(space.even, self._cosines, out=space.real)
        np.matmul(space.odd, self._sines, out=space.imaginary)
        np.multiply(space.real, space.real, out=space.real)
        np.multiply(space.imaginary, space.imaginary, out=space.imaginary)
        np.add(space.real, space.imaginary, out=space.middle)
        np.sqrt(space.middle, out=space.middle)
        space.before[...] = space.all_but_last
        space.after[...] = space.all_but_first
        first, second, third, fourth = self._layers
        np.matmul(space.columns, first, out=space.first)
        np.maximum(space.early, _ZERO, out=space.early_of_pair)
        np.maximum(space.late, _ZERO, out=space.late_of_pair)
        np.matmul(space.pair, second, out=space.second)
        np.maximum(space.both, _ZERO, out=space.into_third)
        np.maximum(space.third @ third, _ZERO, out=space.into_fourth)
        np.maximum(space.fourth @ fourth, _ZERO, out=space.encoded)

    def _remember(self, space: _Workspace, cell: Numbers) -> tuple[float, Numbers, Numbers]:
        """Compute an LSTM cell and the probability of speech."""
        np.tanh(space.gates, out=space.gates)
        opened, take_in = space.opened, space.take_in
        np.add(opened, _ONE, out=opened)  # half of this is the sigmoid, because the weights of the gates are halved
        np.multiply(opened, _HALF, out=opened)
        cell = space.keep * cell
        np.multiply(take_in, space.candidate, out=take_in)
        np.add(cell, take_in, out=cell)
        hidden = np.tanh(cell)
        np.multiply(hidden, space.give_out, out=hidden)
        odds = float(np.dot(np.maximum(hidden, _ZERO), self._last)) + self._offset
        return 1 / (1 + math.exp(-odds)), hidden, cell


class _Workspace:
    """The arrays in which one frame is computed. They are reused for the next frame, because memory that was used
    recently is still in the CPU's caches. The input of a layer with a bias ends with a 1, so that the bias can be a row
    of the layer's weights."""

    def __init__(self) -> None:
        # Two windows overlap by half, and the last one is filled up with reflected samples.
        heard = np.zeros(_HOP * (_STEPS + 1), np.float32)
        self.context, self.frame = heard[:CONTEXT_SAMPLES], heard[CONTEXT_SAMPLES:INPUT_SAMPLES]
        self.end = heard[INPUT_SAMPLES:]
        self.reflected = heard[2 * INPUT_SAMPLES - heard.size - 1 : INPUT_SAMPLES - 1][::-1]
        windows = np.lib.stride_tricks.sliding_window_view(heard, _WINDOW)[::_HOP]
        self.rising, self.falling = windows[:, 1 : _HOP + 1], windows[:, : _HOP - 1 : -1]
        self.even, self.odd = np.zeros((2, _STEPS, _HOP), np.float32)
        self.real, self.imaginary = np.zeros((2, _STEPS, _BINS), np.float32)
        columns = _ending_with_1(_STEPS, 3 * _BINS)  # the spectra of the step before, the step, the step after
        self.columns, self.middle = columns, columns[:, _BINS : 2 * _BINS]
        self.before, self.all_but_last = columns[1:, :_BINS], self.middle[:-1]
        self.after, self.all_but_first = columns[:-1, 2 * _BINS : -1], self.middle[1:]
        self.first = np.zeros((_STEPS, _FIRST), np.float32)
        self.early, self.late = self.first[:2].reshape(-1), self.first[1:].reshape(-1)
        self.pair = _ending_with_1(2, 3 * _FIRST)
        self.early_of_pair, self.late_of_pair = self.pair[0, _FIRST:-1], self.pair[1, :-1]
        self.second = np.zeros((2, _SECOND), np.float32)
        self.both = self.second.reshape(-1)
        self.third, self.fourth = _ending_with_1(1, 2 * _SECOND)[0], _ending_with_1(1, _SECOND)[0]
        self.into_third, self.into_fourth = self.third[:-1], self.fourth[:-1]
        self.recurrent = _ending_with_1(1, 2 * MEMORY)[0]
        self.encoded, self.hidden = self.recurrent[:MEMORY], self.recurrent[MEMORY:-1]
        self.gates = np.zeros(4 * MEMORY, np.float32)
        self.opened = self.gates[: 3 * MEMORY]
        self.take_in, self.keep, self.give_out, self.candidate = self.gates.reshape(4, MEMORY)


def runs_in_one_thread(blas: Mapping[str, Any] | None = None) -> bool:
    """Does numpy's BLAS library multiply such small matrices in the calling thread alone? If it used other threads,
    these would keep their cores busy while they wait for more work. True for Apple's Accelerate, and for OpenBLAS from
    0.3.27 on, which numpy 2 contains. `blas` describes the library in the form that numpy uses; by default, it is the
    library of the installed numpy."""
    if blas is None:
        config: Any = np.show_config(mode="dicts")
        blas = config.get("Build Dependencies", {}).get("blas", {})
    assert blas is not None
    name, version = str(blas.get("name", "")), re.findall(r"\d+", str(blas.get("version", "")))
    return name == "accelerate" or ("openblas" in name and [int(part) for part in version[:3]] >= [0, 3, 27])


def _ending_with_1(rows: int, columns: int) -> Numbers:
    numbers = np.zeros((rows, columns + 1), np.float32)
    numbers[:, -1] = 1
    return numbers


def read_weights(file: bytes) -> dict[str, Numbers]:
    """The weights for 16 kHz in the bytes of the model's file, by name. Raises `ValueError` if it isn't the expected
    model."""
    found = float_constants(file)
    weights = {name.removeprefix(_PREFIX): values for name, values in found.items() if name.startswith(_PREFIX)}
    missing = sorted(_NAMES - weights.keys())
    if missing:
        raise ValueError(f"the file has no weights called {missing[0]}: it isn't Silero VAD 5 or 6")
    return weights


def _half_waves(waves: Numbers) -> tuple[Numbers, Numbers]:
    """The waves of a spectrum: cosines and sines, in the columns of two matrices. A window's first sample has no
    weight, a cosine is the same and a sine is the opposite when it is read from its end. So the matrices have only half
    of the samples. They are multiplied with the sums and the differences of the two samples that share a weight. The
    sample in the middle is added to itself, so its weight is halved."""
    half = waves[1 : _HOP + 1].copy()
    half[-1] *= 0.5
    return np.ascontiguousarray(half[:, :_BINS]), np.ascontiguousarray(half[:, _BINS:])


def _flat(kernel: Numbers) -> Numbers:
    """Turn a convolution kernel into a matrix, with its time steps one below the other."""
    return kernel.reshape(-1, kernel.shape[2])


def _gates(values: Numbers) -> Numbers:
    """The weights of the LSTM, transposed and reordered: the weights of its three gates come first, those of its
    candidate last. The weights of the gates are halved, because sigmoid(x) is (tanh(x / 2) + 1) / 2. With this, a
    single call of tanh computes the three gates and the candidate."""
    ordered = values.reshape(4, MEMORY, -1)[[0, 1, 3, 2]]
    ordered[:3] *= 0.5
    return ordered.reshape(values.shape).T


def _with_bias(matrix: Numbers, bias: Numbers) -> Numbers:
    return np.ascontiguousarray(np.concatenate((matrix, bias[None])))
