"""Understanding on this machine: MiniLM and a regression for each scope, or the words alone.

Nothing is loaded before it is needed. Each scope is learned from its phrases when it is first met, or before
by `prepare`; phrases are embedded once, whatever scopes they are in. Rule: a message always gets an answer. Where
the model is missing or broken, that is said once, with the command that mends it, and words have to do.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from duologue.core.errors import DuologueError

from .certainty import DEEP, PLAIN, WORDS, Certainty, Scores
from .plain import PlainScope
from .understanding import Intent, Scope, Understanding, shortened

if TYPE_CHECKING:
    from .embeddings import Embeddings

SCOPES_MAX = 64
_log = logging.getLogger("duologue")


class Learned(Protocol):
    """A scope whose phrases were learned."""

    def scores(self, message: str) -> Scores: ...


class _Reader:
    """How scopes are learned here: with the model, with numpy only, or with neither."""

    def __init__(self, by: str, certainty: Certainty, learn: Callable[[list[tuple[str, ...]]], Learned]) -> None:
        self.by = by
        self.certainty = certainty
        self.learn = learn


class LocalNlu:
    """Shared by all conversations; may be used from many threads.

    `folder` is that of the model, if it isn't the cache's. `words_only` leaves the model out, which is
    faster and needs less memory, and understands less. `tell` gets the one line about what is missing; without
    it that goes to the log `duologue` as a warning.
    """

    def __init__(
        self, folder: Path | None = None, *, words_only: bool = False, tell: Callable[[str], None] = _log.warning
    ) -> None:
        self.notice = ""
        """Why the words have to do, and what to run about it; empty if they don't."""
        self._folder = folder
        self._words_only = words_only
        self._tell = tell
        self._reader: _Reader | None = None
        self._one_core: Callable[[], AbstractContextManager[None]] = nullcontext
        self._learned: OrderedDict[frozenset[Intent], tuple[list[str], Learned]] = OrderedDict()
        self._lock = threading.RLock()

    async def understand(self, message: str, scope: Scope) -> Understanding:
        """What this message means, of what is open at this turn."""
        return await asyncio.get_running_loop().run_in_executor(None, self.judge, message, scope)

    def judge(self, message: str, scope: Scope) -> Understanding:
        """The same, here and now. Slots are left to grammars."""
        text = shortened(message)
        if not scope.intents or not any(char.isalnum() for char in text):
            return Understanding(by=self._ready().by)
        try:
            return self._judge(text, scope)
        except DuologueError as problem:  # only the model raises these, and it won't get better
            self._use_words(str(problem))
            return self._judge(text, scope)

    def prepare(self, *scopes: Scope) -> None:
        """Learn these scopes now rather than with the first message in them."""
        for scope in scopes:
            if scope.intents and frozenset(scope.intents) not in self._learned:
                self.judge("hello", scope)

    # -- What was learned

    def _judge(self, text: str, scope: Scope) -> Understanding:
        with self._one_core_once_ready():
            reader, names, learned = self._learn(frozenset(scope.intents))
            scores = learned.scores(text)
        return reader.certainty.understanding(names, scores, reader.by)

    def _learn(self, scope: frozenset[Intent]) -> tuple[_Reader, list[str], Learned]:
        with self._lock:
            reader = self._ready()
            if scope not in self._learned:
                intents = sorted(scope, key=lambda intent: intent.name)
                learned = reader.learn([intent.phrases for intent in intents])
                self._learned[scope] = [intent.name for intent in intents], learned
            self._learned.move_to_end(scope)
            while len(self._learned) > SCOPES_MAX:
                self._learned.popitem(last=False)
            return reader, *self._learned[scope]

    # -- What there is to learn with

    def _one_core_once_ready(self) -> AbstractContextManager[None]:
        self._ready()
        return self._one_core()

    def _ready(self) -> _Reader:
        with self._lock:
            if self._reader is None:
                self._load()
            assert self._reader is not None
            return self._reader

    def _load(self) -> None:
        if self._words_only:
            self._use_words("")
            return
        try:
            embeddings = self._embeddings()
        except ModuleNotFoundError as missing:
            if missing.name != "numpy":
                raise
            self._use_words("numpy is missing; run `pip install 'duologue[nlu]'`")
        except (DuologueError, OSError) as problem:
            self._use_words(str(problem))
        else:
            from .learning import DeepScope
            from .onecore import one_core

            self._one_core = one_core
            self._reader = _Reader("minilm", DEEP, lambda phrases: DeepScope(phrases, embeddings))

    def _embeddings(self) -> Embeddings:
        from .embeddings import Embeddings
        from .minilm import MiniLm, shared_minilm

        return Embeddings(MiniLm(self._folder) if self._folder else shared_minilm())

    def _use_words(self, why: str) -> None:
        with self._lock:
            if self._reader is not None and self._reader.by == "words":
                return  # another thread was first
            self._learned.clear()
            if why:
                self.notice = f"messages are understood by their words alone: {why}"
                self._tell(self.notice)
            try:
                from .learning import WordScope
                from .onecore import one_core
            except ModuleNotFoundError as missing:
                if missing.name != "numpy":
                    raise
                self._reader = _Reader("words", PLAIN, PlainScope)
            else:
                self._one_core = one_core
                self._reader = _Reader("words", WORDS, WordScope)
