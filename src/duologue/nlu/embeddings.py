"""Vectors that were made once: of phrases, and of the last messages.

A phrase is in many scopes, and a message may be asked about in two of them. Rule: both are bounded, and
messages are forgotten soon: they are somebody's words.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .minilm import MiniLm

PHRASES_MAX = 5_000  # 3 kB each
MESSAGES_MAX = 8

Floats = NDArray[np.float32]
Pair = tuple[Floats, Floats]


class Embeddings:
    """What each text means, and how it is said."""

    def __init__(self, model: MiniLm) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._phrases: OrderedDict[str, Pair] = OrderedDict()
        self._messages: OrderedDict[str, Pair] = OrderedDict()

    def of_phrases(self, texts: Sequence[str]) -> Pair:
        """A row for each; the new ones are computed together."""
        with self._lock:
            known = {text: self._phrases[text] for text in texts if text in self._phrases}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= zip(new, zip(*self._model.embed(new), strict=True), strict=True)
        with self._lock:
            for text in texts:
                self._phrases[text] = known[text]
                self._phrases.move_to_end(text)
            while len(self._phrases) > PHRASES_MAX:
                self._phrases.popitem(last=False)
        return np.stack([known[text][0] for text in texts]), np.stack([known[text][1] for text in texts])

    def of_message(self, text: str) -> Pair:
        with self._lock:
            if (pair := self._messages.get(text)) is not None:
                return pair
        (meant,), (said,) = self._model.embed([text])
        with self._lock:
            self._messages[text] = (meant, said)
            while len(self._messages) > MESSAGES_MAX:
                self._messages.popitem(last=False)
        return meant, said
