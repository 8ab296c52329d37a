"""A second embedding model: E5-small, twelve layers of BERT on onnxruntime.

E5 was trained on questions and the texts that answer them, so its mistakes differ from MiniLM's. Both models use the
same vocabulary. Rule: each run processes one text, because the model file doesn't support batches. A long text is
shortened more than for MiniLM, so that a run never takes too long.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from duologue.models.cache import model_path, verify_and_stamp
from duologue.models.onnx_sessions import UnusableModel, session

from .understanding import shortened
from .wordpiece import WordPiece, read_vocabulary

MODEL = "e5-small"
SIZE = 384
PIECES_MAX = 32
_PROMPT = "query: "  # the prefix that the model was trained with
_ALONE_MAX = 4  # more texts than this are split over threads; only phrases come in such numbers
_THREADS_MAX = 4

Floats = NDArray[np.float32]
Run = Callable[[Sequence[str], dict[str, Any]], list[Any]]
"""A function that runs the network. It gets the names of the wanted outputs, and the inputs by name. It returns the
outputs."""


class E5:
    """The E5 embedding model. It stores nothing between two uses, so all conversations can share one instance. Tests
    pass `run` to replace the ONNX session."""

    def __init__(self, folder: Path, vocabulary: Path, run: Run | None = None) -> None:
        self._run = run or session(folder / "e5-small.onnx").run
        self._pieces = WordPiece(read_vocabulary(vocabulary))

    def embed(self, texts: Sequence[str]) -> Floats:
        """The embeddings: one row for each text."""
        if len(texts) <= _ALONE_MAX:
            rows = [self._row(text) for text in texts]
        else:
            with ThreadPoolExecutor(min(_THREADS_MAX, os.cpu_count() or 1)) as threads:
                rows = list(threads.map(self._row, texts))
        return np.stack(rows)

    def _row(self, text: str) -> Floats:
        numbers = np.array([self._pieces.numbers(_PROMPT + shortened(text), PIECES_MAX)], np.int64)
        given = {"input_ids": numbers, "attention_mask": np.ones_like(numbers)}
        try:
            (pieces,) = self._run(["last_hidden_state"], given)
        except Exception as failure:  # noqa: BLE001 - onnxruntime raises classes without a common base
            raise UnusableModel(f"the model {MODEL} can't be run: {type(failure).__name__}") from None
        row: Floats = pieces[0].mean(axis=0)
        if row.shape != (SIZE,) or not np.isfinite(row).all():
            raise UnusableModel(f"the model {MODEL} returned unusable numbers; run `duologue models verify {MODEL}`")
        return row


_loading = threading.Lock()


def shared_e5() -> E5:
    """The E5 model of this process. It is loaded only once. As for MiniLM, the hashes of the model's files are checked
    before it is loaded."""
    folder = model_path(MODEL)
    with _loading:
        return _load(folder, model_path("minilm") / "vocab.txt")


@cache
def _load(folder: Path, vocabulary: Path) -> E5:
    if problems := verify_and_stamp(MODEL):
        raise UnusableModel(f"the model {MODEL} is damaged: {problems[0]}; run `duologue models pull {MODEL}`")
    return E5(folder, vocabulary)
