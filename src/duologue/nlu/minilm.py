"""Sentence embeddings by all-MiniLM-L6-v2, six layers of BERT in numpy.

Returns two vectors for each text: the mean of the last layer, which is close to the meaning, and the mean of the layer
before, which is closer to the wording. Both means skip the start and end tokens, because these two would dominate the
result. Rule: only texts with the same number of tokens share a batch, so there is no padding.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from duologue.models.cache import model_path, verify_and_stamp
from duologue.models.onnx_sessions import UnusableModel

from .safetensors import read_weights
from .understanding import shortened
from .wordpiece import WordPiece, read_vocabulary

MODEL = "minilm"
SIZE = 384
PIECES_MAX = 96  # tokens, about 80 words; more would take too long
_PIECES, _PLACES, _LAYERS, _HEADS, _INNER = 30_522, 512, 6, 12, 1_536
_HEAD = SIZE // _HEADS
_BATCH_PIECES = 512  # tokens per batch: the activations between two layers still fit a core's cache
_BATCHES_ALONE = 4  # more batches than this run in threads: only phrases need that many, before the first call
_THREADS_MAX = 4
_SMALL = 1e-12
# These are Python floats, because a numpy float64 would turn all arrays into 64 bits.
_ROOT = float(_HEAD) ** -0.5
_GELU_1, _GELU_3 = 0.7978845608028654, 0.7978845608028654 * 0.044715

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Dense:
    weight: Floats
    bias: Floats

    def __call__(self, given: Floats) -> Floats:
        made: Floats = given @ self.weight
        made += self.bias
        return made


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: Floats
    bias: Floats

    def __call__(self, given: Floats) -> Floats:
        """Normalise each row. This overwrites `given`, which must not be used afterwards."""
        given -= given.mean(axis=-1, keepdims=True)
        spread = np.einsum("ij,ij->i", given, given)[:, None] / SIZE
        given /= np.sqrt(spread + _SMALL)
        given *= self.weight
        given += self.bias
        return given


@dataclass(frozen=True, slots=True)
class _Layer:
    look: _Dense
    merge: _Dense
    merged: _Norm
    widen: _Dense
    narrow: _Dense
    narrowed: _Norm

    def __call__(self, given: Floats, texts: int) -> Floats:
        merged = self.merge(self._attend(given, texts))
        merged += given
        middle = self.merged(merged)
        narrow = self.narrow(_gelu(self.widen(middle)))
        narrow += middle
        return self.narrowed(narrow)

    def _attend(self, given: Floats, texts: int) -> Floats:
        seen = self.look(given).reshape(texts, -1, 3, _HEADS, _HEAD).transpose(2, 0, 3, 1, 4)
        query, key, value = seen
        share: Floats = query @ key.swapaxes(2, 3)
        share -= share.max(axis=-1, keepdims=True)
        np.exp(share, out=share)
        share /= share.sum(axis=-1, keepdims=True)
        mixed: Floats = (share @ value).swapaxes(1, 2).reshape(given.shape)
        return mixed


class MiniLm:
    """The MiniLM embedding model. It stores nothing between two uses, so all conversations can share one instance."""

    def __init__(self, folder: Path) -> None:
        vocabulary = read_vocabulary(folder / "vocab.txt")
        if len(vocabulary) != _PIECES:
            raise UnusableModel(
                f"{folder / 'vocab.txt'} can't be used: it has {len(vocabulary)} tokens instead of {_PIECES}"
            )
        self._pieces = WordPiece(vocabulary)
        weights = read_weights(folder / "model.safetensors", _shapes())
        self._words = weights["embeddings.word_embeddings.weight"]
        types = weights["embeddings.token_type_embeddings.weight"]
        self._places: Floats = weights["embeddings.position_embeddings.weight"] + types[0]
        self._first = _norm(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, f"encoder.layer.{number}") for number in range(_LAYERS)]

    def embed(self, texts: Sequence[str]) -> tuple[Floats, Floats]:
        """The embeddings as two arrays, meaning and wording, each with one row for each text."""
        meaning, wording = (np.zeros((len(texts), SIZE), np.float32) for _ in range(2))
        numbers = [self._pieces.numbers(shortened(text), PIECES_MAX) for text in texts]

        def run(batch: list[int]) -> None:
            wording[batch], meaning[batch] = self._run([numbers[place] for place in batch])

        batches = list(_batches(numbers))
        if len(batches) <= _BATCHES_ALONE:
            for batch in batches:
                run(batch)
        else:
            with ThreadPoolExecutor(min(_THREADS_MAX, os.cpu_count() or 1)) as threads:
                list(threads.map(run, batches))
        if not (np.isfinite(meaning).all() and np.isfinite(wording).all()):
            raise UnusableModel(f"the weights of {MODEL} are NaN or infinite; run `duologue models verify {MODEL}`")
        return meaning, wording

    def last_layer(self, text: str) -> Floats:
        """The output of the last layer for one text: one row for each token, including the start and end tokens."""
        return self._last_layers([self._pieces.numbers(shortened(text), PIECES_MAX)])[1]

    def _run(self, numbers: list[list[int]]) -> tuple[Floats, Floats]:
        before, last = self._last_layers(numbers)
        return _mean(before, len(numbers)), _mean(last, len(numbers))

    def _last_layers(self, numbers: list[list[int]]) -> tuple[Floats, Floats]:
        texts, length = len(numbers), len(numbers[0])
        given = self._words[np.array(numbers)] + self._places[:length]
        now = self._first(given.reshape(-1, SIZE))
        before = now
        for layer in self._layers:
            before, now = now, layer(now, texts)
        return before, now


def _mean(pieces: Floats, texts: int) -> Floats:
    inner = pieces.reshape(texts, -1, SIZE)[:, 1:-1]
    mean: Floats = inner.sum(axis=1) / max(1, inner.shape[1])
    return mean


def _gelu(given: Floats) -> Floats:
    """GELU by its tanh approximation, whose error is below 0.0005."""
    made: Floats = given * given
    made *= _GELU_3
    made += _GELU_1
    made *= given
    np.tanh(made, out=made)
    made += 1.0
    made *= given
    made *= 0.5
    return made


def _batches(numbers: list[list[int]]) -> Iterator[list[int]]:
    """Groups the texts into batches, so that all texts of a batch have the same number of tokens. A batch is a list of
    indexes of `numbers`."""
    by_length: dict[int, list[int]] = {}
    for place, each in enumerate(numbers):
        by_length.setdefault(len(each), []).append(place)
    for length, places in by_length.items():
        size = max(1, _BATCH_PIECES // length)
        yield from (places[at : at + size] for at in range(0, len(places), size))


# -- The file


def _shapes() -> dict[str, tuple[int, ...]]:
    """The name and shape of every array that is read from the file."""
    found: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (_PIECES, SIZE),
        "embeddings.position_embeddings.weight": (_PLACES, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
    }
    sizes = {
        "attention.output.dense": (SIZE, SIZE),
        "intermediate.dense": (_INNER, SIZE),
        "output.dense": (SIZE, _INNER),
    }
    sizes |= {f"attention.self.{name}": (SIZE, SIZE) for name in ("query", "key", "value")}
    norms = ["embeddings.LayerNorm"]
    for number in range(_LAYERS):
        for name, shape in sizes.items():
            found[f"encoder.layer.{number}.{name}.weight"] = shape
            found[f"encoder.layer.{number}.{name}.bias"] = shape[:1]
        norms += [f"encoder.layer.{number}.{name}.LayerNorm" for name in ("attention.output", "output")]
    return found | {f"{norm}.{part}": (SIZE,) for norm in norms for part in ("weight", "bias")}


def _layer(weights: dict[str, Floats], name: str) -> _Layer:
    return _Layer(
        _look(weights, f"{name}.attention.self"),
        _dense(weights, f"{name}.attention.output.dense"),
        _norm(weights, f"{name}.attention.output.LayerNorm"),
        _dense(weights, f"{name}.intermediate.dense"),
        _dense(weights, f"{name}.output.dense"),
        _norm(weights, f"{name}.output.LayerNorm"),
    )


def _look(weights: dict[str, Floats], name: str) -> _Dense:
    """One layer that computes queries, keys and values in a single matrix product. The scaling of the queries is
    already multiplied into their weights."""
    parts = [_dense(weights, f"{name}.{part}") for part in ("query", "key", "value")]
    parts[0] = _Dense(parts[0].weight * _ROOT, parts[0].bias * _ROOT)
    weight = np.concatenate([part.weight for part in parts], axis=1)
    return _Dense(weight, np.concatenate([part.bias for part in parts]))


def _dense(weights: dict[str, Floats], name: str) -> _Dense:
    """A dense layer. Its weights are transposed and copied when it is made, because then the matrix products for a
    short message are a third faster."""
    return _Dense(np.ascontiguousarray(weights[f"{name}.weight"].T), weights[f"{name}.bias"])


def _norm(weights: dict[str, Floats], name: str) -> _Norm:
    return _Norm(weights[f"{name}.weight"], weights[f"{name}.bias"])


_loading = threading.Lock()


def shared_minilm() -> MiniLm:
    """The MiniLM model of this process. It is loaded only once. The hashes of the model's files are checked before it
    is loaded, because damaged weights would otherwise not be noticed. The check takes less time than the first
    answer."""
    folder = model_path(MODEL)
    with _loading:
        return _load(folder)


@cache
def _load(folder: Path) -> MiniLm:
    if problems := verify_and_stamp(MODEL):
        raise UnusableModel(f"the model {MODEL} is damaged: {problems[0]}; run `duologue models pull {MODEL}`")
    return MiniLm(folder)
