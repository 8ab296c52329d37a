"""A second opinion: sentences as vectors by E5-small, twelve layers of BERT on onnxruntime.

It learned from questions and the texts that answer them, so it errs elsewhere than MiniLM does. It reads by the
same vocabulary. Rule: it gets each text by itself, as the file allows no more, and of a long one only so much that
the time stays bounded: MiniLM has read the rest.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from duologue.models.cache import model_path, verify_and_stamp
from duologue.models.onnx_sessions import UnusableModel, session

from .understanding import shortened
from .wordpiece import WordPiece, read_vocabulary

MODEL = "e5-small"
SIZE = 384
PIECES_MAX = 32
_PROMPT = "query: "  # so it was taught to tell texts that ask from texts that answer
_ALONE_MAX = 4  # more are shared out to threads: only phrases come in such numbers
_THREADS_MAX = 4

Floats = NDArray[np.float32]


class E5:
    """Shared by all conversations: it remembers nothing."""

    def __init__(self, folder: Path, vocabulary: Path) -> None:
        self._session = session(folder / "e5-small.onnx")
        self._pieces = WordPiece(read_vocabulary(vocabulary))

    def embed(self, texts: Sequence[str]) -> Floats:
        """A row for every text."""
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
            (pieces,) = self._session.run(["last_hidden_state"], given)
        except Exception as failure:  # noqa: BLE001 - onnxruntime has no class of its own for this
            raise UnusableModel(f"the model {MODEL} can't be run: {type(failure).__name__}") from None
        row: Floats = pieces[0].mean(axis=0)
        if row.shape != (SIZE,) or not np.isfinite(row).all():
            raise UnusableModel(f"the model {MODEL} gives no numbers; run `duologue models verify {MODEL}`")
        return row


_loading = threading.Lock()


def shared_e5() -> E5:
    """The one of this process, out of the cache, its hashes looked at once more as those of MiniLM are."""
    folder = model_path(MODEL)
    with _loading:
        return _load(folder, model_path("minilm") / "vocab.txt")


@cache
def _load(folder: Path, vocabulary: Path) -> E5:
    if problems := verify_and_stamp(MODEL):
        raise UnusableModel(f"the model {MODEL} is not whole: {problems[0]}; run `duologue models pull {MODEL}`")
    return E5(folder, vocabulary)
