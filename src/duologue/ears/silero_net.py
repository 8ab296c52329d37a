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

_ZERO: Numbers = np.zeros((), np.float32)  # numpy takes longer for the number 0


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
        self._waves = np.ascontiguousarray(weights["stft.forward_basis_buffer"][:, 0].T)  # cosines, then sines
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
        space.recurrent[MEMORY:-1] = hidden
        np.matmul(space.recurrent, self._gates, out=space.gates)
        answer = self._remember(space.gates, cell)
        self._spare.append(space)
        return answer

    def hear_silence(self, hidden: Numbers, cell: Numbers) -> tuple[float, Numbers, Numbers]:
        """Process a frame of digital silence that follows another such frame. Returns the same as `hear`. The encoder's
        output for such a frame is always the same and was computed before, so only the LSTM runs."""
        gates = hidden @ self._gates[MEMORY:-1]
        gates += self._of_silence
        return self._remember(gates, cell)

    def _gates_of_silence(self) -> Numbers:
        space = _Workspace()
        self._encode(space, np.zeros(CONTEXT_SAMPLES, np.float32), np.zeros(FRAME_SAMPLES, np.float32))
        gates: Numbers = space.recurrent @ self._gates
        return gates

    def _encode(self, space: _Workspace, context: Samples, frame: Samples) -> None:
        """Compute the spectra of four windows, then four convolutions with 4, 2, 1 and 1 steps."""
        heard, spectrum, columns, middle = space.heard, space.spectrum, space.columns, space.middle
        heard[:CONTEXT_SAMPLES] = context
        heard[CONTEXT_SAMPLES:INPUT_SAMPLES] = frame
        heard[INPUT_SAMPLES:] = space.reflected
        space.windowed[...] = space.windows
        np.matmul(space.windowed, self._waves, out=spectrum)
        np.multiply(spectrum, spectrum, out=spectrum)
        np.add(spectrum[:, :_BINS], spectrum[:, _BINS:], out=middle)
        np.sqrt(middle, out=middle)
        columns[1:, :_BINS] = middle[:-1]
        columns[:-1, 2 * _BINS : -1] = middle[1:]
        first, second, third, fourth = self._layers
        np.matmul(columns, first, out=space.first)
        np.maximum(space.early, _ZERO, out=space.pair[0, _FIRST:-1])
        np.maximum(space.late, _ZERO, out=space.pair[1, :-1])
        np.matmul(space.pair, second, out=space.second)
        np.maximum(space.both, _ZERO, out=space.third[:-1])
        np.maximum(space.third @ third, _ZERO, out=space.fourth[:-1])
        np.maximum(space.fourth @ fourth, _ZERO, out=space.recurrent[:MEMORY])

    def _remember(self, gates: Numbers, cell: Numbers) -> tuple[float, Numbers, Numbers]:
        """Compute an LSTM cell and the probability of speech. `gates` is overwritten."""
        np.tanh(gates, out=gates)
        opened = gates[: 3 * MEMORY]
        opened += 1  # half of this is the sigmoid, because the weights of the gates are halved
        opened *= 0.5
        cell = gates[MEMORY : 2 * MEMORY] * cell
        gates[:MEMORY] *= gates[3 * MEMORY :]
        cell += gates[:MEMORY]
        hidden = np.tanh(cell)
        hidden *= gates[2 * MEMORY : 3 * MEMORY]
        odds = float(np.dot(np.maximum(hidden, _ZERO), self._last)) + self._offset
        return 1 / (1 + math.exp(-odds)), hidden, cell


class _Workspace:
    """The arrays in which one frame is computed. They are reused for the next frame, because memory that was used
    recently is still in the CPU's caches. The input of a layer with a bias ends with a 1, so that the bias can be a row
    of the layer's weights."""

    def __init__(self) -> None:
        # Two windows overlap by half, and the last one is filled up with reflected samples.
        self.heard = np.zeros(_HOP * (_STEPS + 1), np.float32)
        self.windows = np.lib.stride_tricks.sliding_window_view(self.heard, _WINDOW)[::_HOP]
        self.reflected = self.heard[2 * INPUT_SAMPLES - self.heard.size - 1 : INPUT_SAMPLES - 1][::-1]
        self.windowed = np.zeros((_STEPS, _WINDOW), np.float32)
        self.spectrum = np.zeros((_STEPS, 2 * _BINS), np.float32)
        self.columns = _ending_with_1(_STEPS, 3 * _BINS)  # the spectra of the step before, the step, the step after
        self.middle = self.columns[:, _BINS : 2 * _BINS]
        self.first = np.zeros((_STEPS, _FIRST), np.float32)
        self.early, self.late = self.first[:2].reshape(-1), self.first[1:].reshape(-1)
        self.pair = _ending_with_1(2, 3 * _FIRST)
        self.second = np.zeros((2, _SECOND), np.float32)
        self.both = self.second.reshape(-1)
        self.third = _ending_with_1(1, 2 * _SECOND)[0]
        self.fourth = _ending_with_1(1, _SECOND)[0]
        self.recurrent = _ending_with_1(1, 2 * MEMORY)[0]  # what the encoder found, then the memory
        self.gates = np.zeros(4 * MEMORY, np.float32)


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
