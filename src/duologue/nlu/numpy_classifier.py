"""The classifier of a scope in numpy. It uses up to four views of a message, and each view has its own regression.

A scope is the set of intents that are possible at a turn. A view is one method to turn a text into a vector. The views
`meaning` and `query` have the most weight, `wording` and `words` have less. Without the models, only the view `words`
is used. Rule: what is learned here belongs to one scope; the models in `minilm` and `e5` are the same for all scopes.
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

WEIGHTS = {"meaning": 1.0, "query": 1.0, "wording": 0.4, "words": 0.5}  # chosen by cross-validation (docs/nlu.md)
_CENTRED = {"query", "wording"}  # these vectors all have similar directions, so their mean is subtracted

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class MessageView:
    """One view of a scope: the vectors of the phrases as rows, and the weights of the regression that was fitted to
    them."""

    rows: Floats | SparseRows
    labels: NDArray[np.int64]
    weights: Floats
    usual: float
    """The mean similarity of a phrase to the other phrases of its intent."""

    def scores(self, row: Floats) -> Floats:
        """The score of each intent for a message. `row` is the vector of the message."""
        if isinstance(self.rows, SparseRows):  # skip the weights that would be multiplied by zero
            places = np.flatnonzero(row)
            row, weights = row[places], self.weights[places]
        else:
            weights = self.weights
        found: Floats = row @ weights
        return found

    def with_similarity(self, each: Floats, row: Floats) -> Scores:
        """Add to the scores `each` the similarity of the message to the phrases of the best intent. `row` is the vector
        of the message."""
        alike = (self.rows @ row)[self.labels == each.argmax()]
        return Scores(each.tolist(), _nearest(alike), self.usual)


def view_of(rows: Floats, labels: NDArray[np.int64], intents: int, *, is_sparse: bool = False) -> MessageView:
    """Fit a view to these rows. `labels` has, for each row, the number of the row's intent."""
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
    """A scope that was learned with the models."""

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
        return self._views["meaning"].with_similarity(each, rows["meaning"])

    def _row(self, name: str, seen: Floats) -> Floats:
        return unit(unit(seen) - self._middles[name]) if name in self._middles else unit(seen)


class WordScope:
    """A scope that was learned from words alone."""

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None:
        texts, labels = _flat(phrases)
        self._grams = ngrams.Grams(texts)
        rows = np.stack([_filled(row) for row in self._grams.rows])
        self.view = view_of(rows, labels, len(phrases), is_sparse=True)

    def row(self, text: str) -> Floats:
        """The vector of a text in this scope."""
        return _filled(self._grams.vector(text))

    def scores(self, message: str) -> Scores:
        row = self.row(message)
        return self.view.with_similarity(self.view.scores(row), row)


def _filled(sparse: ngrams.Sparse) -> Floats:
    row = np.zeros(ngrams.SIZE, np.float32)
    row[list(sparse)] = list(sparse.values())
    return row


def _flat(phrases: Sequence[Sequence[str]]) -> tuple[list[str], NDArray[np.int64]]:
    """All phrases in one list, and for each phrase the number of its intent."""
    labels = [at for at, each in enumerate(phrases) for _ in each]
    return [text for each in phrases for text in each], np.array(labels, np.int64)


def unit(rows: Floats) -> Floats:
    """The rows, each scaled to a unit vector."""
    lengths = np.sqrt(np.einsum("...i,...i->...", rows, rows))[..., None]
    scaled: Floats = rows / np.maximum(lengths, 1e-9)
    return scaled
