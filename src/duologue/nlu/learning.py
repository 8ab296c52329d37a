"""What is learned of a scope with numpy: three views of a message, each with its own regression.

What is meant counts most, how it is said and the very words count less; where the model is missing the words
are all there is. Rule: everything that depends on the scope is here, everything that doesn't is in `minilm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import grams
from .certainty import NEAREST, USUAL, Scores
from .embeddings import Embeddings
from .logistic import fit
from .sparse import SparseRows

WEIGHTS = {"meant": 1.0, "said": 0.4, "words": 0.5}  # by cross-validation (docs/nlu.md)

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class View:
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


def view_of(rows: Floats, labels: NDArray[np.int64], intents: int, *, is_sparse: bool = False) -> View:
    """Learn to tell the intents apart by these rows."""
    usual = []
    for intent in range(intents):
        mine = rows[labels == intent]
        if len(mine) > 1:
            alike = mine @ mine.T
            usual += [_nearest(np.delete(each, at)) for at, each in enumerate(alike)]
    kept = SparseRows(rows) if is_sparse else rows
    return View(kept, labels, fit(rows, labels, intents), sum(usual) / len(usual) if usual else USUAL)


def _nearest(alike: Floats) -> float:
    return float(np.sort(alike)[-NEAREST:].mean())


class DeepScope:
    """A scope as MiniLM sees it."""

    def __init__(self, phrases: Sequence[Sequence[str]], embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        texts, labels = _flat(phrases)
        meant, said = embeddings.of_phrases(texts)
        self._middle: Floats = unit(said).mean(axis=0)  # all hidden layers point the same way; this is which
        self._meant = view_of(unit(meant), labels, len(phrases))
        self._said = view_of(unit(unit(said) - self._middle), labels, len(phrases))
        self._words = WordScope(phrases)

    def scores(self, message: str) -> Scores:
        meant, said = self._embeddings.of_message(message)
        row = unit(meant)
        each = WEIGHTS["meant"] * self._meant.scores(row)
        each += WEIGHTS["said"] * self._said.scores(unit(unit(said) - self._middle))
        each += WEIGHTS["words"] * self._words.view.scores(self._words.row(message))
        return self._meant.told(each, row)


class WordScope:
    """A scope by the words alone."""

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None:
        texts, labels = _flat(phrases)
        self._grams = grams.Grams(texts)
        rows = np.stack([_filled(row) for row in self._grams.rows])
        self.view = view_of(rows, labels, len(phrases), is_sparse=True)

    def row(self, text: str) -> Floats:
        """The text as this scope sees it."""
        return _filled(self._grams.vector(text))

    def scores(self, message: str) -> Scores:
        row = self.row(message)
        return self.view.told(self.view.scores(row), row)


def _filled(sparse: grams.Sparse) -> Floats:
    row = np.zeros(grams.SIZE, np.float32)
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
