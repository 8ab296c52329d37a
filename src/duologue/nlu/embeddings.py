"""Embeds phrases and messages, and caches the results.

A scope is the set of intents that are possible at a turn. The same phrase may occur in many scopes, and the same
message may be judged in several scopes. Rule: both caches have a maximum size. The cache for messages is small, because
messages are private.
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

PHRASES_MAX = 5_000  # the embeddings of a phrase take 3 to 5 kB
MESSAGES_MAX = 8

Floats = NDArray[np.float32]
Views = dict[str, Floats]
"""Embeddings by the name of their view: `meaning`, `wording` or `query`. Each is one vector, or an array with one row
for each text."""


class Embeddings:
    """Embeds texts with MiniLM and, if given, also with E5."""

    def __init__(self, minilm: MiniLm, e5: E5 | None = None) -> None:
        self._minilm = minilm
        self._e5 = e5
        self._lock = threading.Lock()
        self._phrases: OrderedDict[str, Views] = OrderedDict()
        self._messages: OrderedDict[str, Views] = OrderedDict()

    def of_phrases(self, texts: Sequence[str]) -> Views:
        """The embeddings of these phrases. Each view (one kind of embedding) has one row for each phrase. Phrases that
        aren't in the cache are embedded in one go."""
        with self._lock:
            known = {text: self._phrases[text] for text in texts if text in self._phrases}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            views = self._embed(new)
            known |= {text: {view: rows[at] for view, rows in views.items()} for at, text in enumerate(new)}
        with self._lock:
            for text in texts:
                self._phrases[text] = known[text]
                self._phrases.move_to_end(text)
            while len(self._phrases) > PHRASES_MAX:
                self._phrases.popitem(last=False)
        return {view: np.stack([known[text][view] for text in texts]) for view in known[texts[0]]}

    @property
    def cached_messages(self) -> tuple[str, ...]:
        """The messages whose embeddings are stored, the oldest first."""
        return tuple(self._messages)

    def of_message(self, text: str) -> Views:
        """The embeddings of a message: one vector for each view (kind of embedding)."""
        with self._lock:
            if (views := self._messages.get(text)) is not None:
                return views
        views = {view: rows[0] for view, rows in self._embed([text]).items()}
        with self._lock:
            self._messages[text] = views
            while len(self._messages) > MESSAGES_MAX:
                self._messages.popitem(last=False)
        return views

    def _embed(self, texts: Sequence[str]) -> Views:
        meaning, wording = self._minilm.embed(texts)
        views = {"meaning": meaning, "wording": wording}
        return views if self._e5 is None else views | {"query": self._e5.embed(texts)}
