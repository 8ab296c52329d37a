"""Silero's graph for many streams, rewritten for 16 kHz: the same weights and the same arithmetic.

The model's file has one graph with branches for two sample rates, and computes convolutions for each stream separately.
The graph here multiplies matrices for all streams at once. Rule: the weights come from the file, and the results differ
only by rounding.
"""

from __future__ import annotations

from .model_input import np
from .onnx_file import GraphWriter
from .silero_net import INPUT_SAMPLES, MEMORY, Numbers, read_weights

_HOP, _BINS = 128, 129
_STEPS = 4  # windows in the input
_INPUTS = {"heard": INPUT_SAMPLES, "hidden": MEMORY, "cell": MEMORY}
_OUTPUTS = {"probability": 1, "hidden_after": MEMORY, "cell_after": MEMORY}


def faster_graph(file: bytes) -> bytes:
    """An ONNX model as bytes. Its inputs are `heard`, `hidden` and `cell`, and its outputs are `probability`,
    `hidden_after` and `cell_after`. Each is a table with a row for each stream. Raises `ValueError` if the file isn't
    the expected model."""
    graph, weights = GraphWriter(), read_weights(file)
    encoded = _encoder(graph, weights, _magnitudes(graph, weights, "heard"))
    recurrent = np.concatenate((weights["decoder.rnn.weight_ih"], weights["decoder.rnn.weight_hh"]), axis=1)
    both = graph.add("Concat", encoded, "hidden", axis=1)
    bias = weights["decoder.rnn.bias_ih"] + weights["decoder.rnn.bias_hh"]
    _decoder(graph, weights, graph.add("Gemm", both, graph.constant(_gates(recurrent)), graph.constant(_gates(bias))))
    return graph.model(_INPUTS, _OUTPUTS)


def _magnitudes(graph: GraphWriter, weights: dict[str, Numbers], heard: str) -> str:
    """Add the computation of the spectra of four windows that overlap by half. The last window is filled up with
    reflected samples. Returns the name of the output."""
    basis = weights["stft.forward_basis_buffer"]
    padded = graph.add("Pad", heard, graph.constant([0, 0, 0, _STEPS * _HOP + _HOP - INPUT_SAMPLES]), mode="reflect")
    hops = graph.add("Reshape", padded, graph.constant([-1, _STEPS + 1, _HOP]))
    windows = graph.add("Concat", _steps(graph, hops, 0, _STEPS), _steps(graph, hops, 1, _STEPS + 1), axis=2)
    spectrum = graph.add("MatMul", windows, graph.constant(basis[:, 0].T))
    real, imaginary = graph.split(graph.add("Mul", spectrum, spectrum), [_BINS, _BINS], axis=2)
    return graph.add("Sqrt", graph.add("Add", real, imaginary))


def _encoder(graph: GraphWriter, weights: dict[str, Numbers], magnitudes: str) -> str:
    """Add four convolutions, each over three time steps. Their outputs have 4, 2, 1 and 1 steps. Steps beyond the edges
    are zero, so some weights are never used. Returns the name of the last output."""
    kernels = [weights[f"encoder.{layer}.reparam_conv.weight"].transpose(2, 1, 0) for layer in range(4)]
    biases = [graph.constant(weights[f"encoder.{layer}.reparam_conv.bias"]) for layer in range(4)]
    padded = graph.add("Pad", magnitudes, graph.constant([0, 1, 0, 0, 1, 0]))
    columns = graph.add("Concat", *(_steps(graph, padded, step, step + _STEPS) for step in range(3)), axis=2)
    product = graph.add("MatMul", columns, graph.constant(_flat(kernels[0])))
    first = graph.add("Relu", graph.add("Add", product, biases[0]))
    width = kernels[1].shape[1]
    steps = graph.add("Reshape", first, graph.constant([-1, _STEPS * width]))
    early = graph.add("Gemm", _steps(graph, steps, 0, 2 * width), graph.constant(_flat(kernels[1][1:])), biases[1])
    late = graph.add("Gemm", _steps(graph, steps, width, 4 * width), graph.constant(_flat(kernels[1])), biases[1])
    second = graph.add("Relu", graph.add("Concat", early, late, axis=1))
    third = graph.add("Relu", graph.add("Gemm", second, graph.constant(_flat(kernels[2][1:])), biases[2]))
    return graph.add("Relu", graph.add("Gemm", third, graph.constant(kernels[3][1]), biases[3]))


def _gates(values: Numbers) -> Numbers:
    """The weights of the LSTM, transposed and reordered: its three gates come first and its candidate last, so that one
    sigmoid node can process all three gates."""
    return values.reshape(4, MEMORY, -1)[[0, 1, 3, 2]].reshape(values.shape).T


def _decoder(graph: GraphWriter, weights: dict[str, Numbers], product: str) -> None:
    """Add an LSTM cell and the computation of the probability of speech."""
    gates, candidate = graph.split(product, [3 * MEMORY, MEMORY], axis=1)
    take_in, keep, give_out = graph.split(graph.add("Sigmoid", gates), [MEMORY] * 3, axis=1)
    added = graph.add("Mul", take_in, graph.add("Tanh", candidate))
    cell = graph.add("Add", graph.add("Mul", keep, "cell"), added, output="cell_after")
    hidden = graph.add("Mul", give_out, graph.add("Tanh", cell), output="hidden_after")
    last, offset = weights["decoder.decoder.2.weight"][0], weights["decoder.decoder.2.bias"]
    odds = graph.add("Gemm", graph.add("Relu", hidden), graph.constant(last), graph.constant(offset))
    graph.add("Sigmoid", odds, output="probability")


def _steps(graph: GraphWriter, value: str, first: int, end: int) -> str:
    """The part of a value from `first` to `end` along its second axis."""
    return graph.add("Slice", value, graph.constant([first]), graph.constant([end]), graph.constant([1]))


def _flat(kernel: Numbers) -> Numbers:
    """Turn a convolution kernel into a matrix, with its time steps one below the other."""
    return kernel.reshape(-1, kernel.shape[2])
