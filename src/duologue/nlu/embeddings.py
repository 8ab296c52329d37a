"""Vectors that were made once: of phrases, and of the last messages.

A phrase is in many scopes, and a message may be asked about in two of them. Rule: both are bounded, and
messages are forgotten soon: they are somebody's words.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .minilm import MiniLm

if TYPE_CHECKING:
    from .e5 import E5

PHRASES_MAX = 5_000  # 3 to 5 kB each
MESSAGES_MAX = 8

Floats = NDArray[np.float32]
Seen = dict[str, Floats]
"""A vector, or a row for each text, by how one looks: what is meant, how it is said, what is sought."""


class Embeddings:
    """Each text as one or two models see it."""

    def __init__(self, minilm: MiniLm, e5: E5 | None = None) -> None:
        self._minilm = minilm
        self._e5 = e5
        self._lock = threading.Lock()
        self._phrases: OrderedDict[str, Seen] = OrderedDict()
        self._messages: OrderedDict[str, Seen] = OrderedDict()

    def of_phrases(self, texts: Sequence[str]) -> Seen:
        """A row for each; the new ones are computed together."""
        with self._lock:
            known = {text: self._phrases[text] for text in texts if text in self._phrases}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            seen = self._look(new)
            known |= {text: {view: rows[at] for view, rows in seen.items()} for at, text in enumerate(new)}
        with self._lock:
            for text in texts:
                self._phrases[text] = known[text]
                self._phrases.move_to_end(text)
            while len(self._phrases) > PHRASES_MAX:
                self._phrases.popitem(last=False)
        return {view: np.stack([known[text][view] for text in texts]) for view in known[texts[0]]}

    def of_message(self, text: str) -> Seen:
        with self._lock:
            if (seen := self._messages.get(text)) is not None:
                return seen
        seen = {view: rows[0] for view, rows in self._look([text]).items()}
        with self._lock:
            self._messages[text] = seen
            while len(self._messages) > MESSAGES_MAX:
                self._messages.popitem(last=False)
        return seen

    def _look(self, texts: Sequence[str]) -> Seen:
        meant, said = self._minilm.embed(texts)
        seen = {"meant": meant, "said": said}
        return seen if self._e5 is None else seen | {"sought": self._e5.embed(texts)}
