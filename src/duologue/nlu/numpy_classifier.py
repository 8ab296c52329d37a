"""What is learned of a scope with numpy: three or four views of a message, each with its own regression.

What is meant and what is sought count most, how it is said and the very words count less; where the models are
missing the words are all there is. Rule: everything that depends on the scope is here, everything that doesn't is
in `minilm` and `e5`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import ngrams
from .calibration import NEAREST, USUAL, Scores
from .embeddings import Embeddings
from .logistic import fit
from .sparse import SparseRows

WEIGHTS = {"meant": 1.0, "sought": 1.0, "said": 0.4, "words": 0.5}  # by cross-validation (docs/nlu.md)
_CENTRED = {"sought", "said"}  # these vectors all point much the same way; what matters is how they differ

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MessageView:
    """One way to look at a message: phrases as rows, and the weights that tell the intents apart by them."""

    rows: Floats | SparseRows
    labels: NDArray[np.int64]
    weights: Floats
    usual: float
    """How near each phrase is to the others of its intent, on average."""

    def scores(self, row: Floats) -> Floats:
        if isinstance(self.rows, SparseRows):  # most of the weights would meet a zero
            places = np.flatnonzero(row)
            row, weights = row[places], self.weights[places]
        else:
            weights = self.weights
        found: Floats = row @ weights
        return found

    def told(self, each: Floats, row: Floats) -> Scores:
        """These scores, and what else this view knows about the best of them."""
        alike = (self.rows @ row)[self.labels == each.argmax()]
        return Scores(each.tolist(), _nearest(alike), self.usual)


def view_of(rows: Floats, labels: NDArray[np.int64], intents: int, *, is_sparse: bool = False) -> MessageView:
    """Learn to tell the intents apart by these rows."""
    usual = []
    for intent in range(intents):
        mine = rows[labels == intent]
        if len(mine) > 1:
            alike = mine @ mine.T
            usual += [_nearest(np.delete(each, at)) for at, each in enumerate(alike)]
    kept = SparseRows(rows) if is_sparse else rows
    return MessageView(kept, labels, fit(rows, labels, intents), sum(usual) / len(usual) if usual else USUAL)


def _nearest(alike: Floats) -> float:
    return float(np.sort(alike)[-NEAREST:].mean())


class DeepScope:
    """A scope as the models see it."""

    def __init__(self, phrases: Sequence[Sequence[str]], embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        texts, labels = _flat(phrases)
        seen = embeddings.of_phrases(texts)
        self._middles = {name: unit(seen[name]).mean(axis=0) for name in _CENTRED & seen.keys()}
        self._views = {name: view_of(self._row(name, rows), labels, len(phrases)) for name, rows in seen.items()}
        self._words = WordScope(phrases)

    def scores(self, message: str) -> Scores:
        seen = self._embeddings.of_message(message)
        rows = {name: self._row(name, seen[name]) for name in self._views}
        each = WEIGHTS["words"] * self._words.view.scores(self._words.row(message))
        for name, view in self._views.items():
            each += WEIGHTS[name] * view.scores(rows[name])
        return self._views["meant"].told(each, rows["meant"])

    def _row(self, name: str, seen: Floats) -> Floats:
        return unit(unit(seen) - self._middles[name]) if name in self._middles else unit(seen)


class WordScope:
    """A scope by the words alone."""

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None:
        texts, labels = _flat(phrases)
        self._grams = ngrams.Grams(texts)
        rows = np.stack([_filled(row) for row in self._grams.rows])
        self.view = view_of(rows, labels, len(phrases), is_sparse=True)

    def row(self, text: str) -> Floats:
        """The text as this scope sees it."""
        return _filled(self._grams.vector(text))

    def scores(self, message: str) -> Scores:
        row = self.row(message)
        return self.view.told(self.view.scores(row), row)


def _filled(sparse: ngrams.Sparse) -> Floats:
    row = np.zeros(ngrams.SIZE, np.float32)
    row[list(sparse)] = list(sparse.values())
    return row


def _flat(phrases: Sequence[Sequence[str]]) -> tuple[list[str], NDArray[np.int64]]:
    """All phrases, and of which intent each is."""
    labels = [at for at, each in enumerate(phrases) for _ in each]
    return [text for each in phrases for text in each], np.array(labels, np.int64)


def unit(rows: Floats) -> Floats:
    """The same directions, of length one."""
    lengths = np.sqrt(np.einsum("...i,...i->...", rows, rows))[..., None]
    scaled: Floats = rows / np.maximum(lengths, 1e-9)
    return scaled
