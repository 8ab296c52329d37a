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
from duologue.models.cache import ModelMissing

from .calibration import DEEP, DEEPER, PLAIN, WORDS, Certainty, Scores
from .stdlib_classifier import PlainScope
from .understanding import Intent, MessageScope, Understanding, shortened

if TYPE_CHECKING:
    from .e5 import E5
    from .minilm import MiniLm

SCOPES_MAX = 64
BOTH = "minilm+e5"
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

    `folder` is that of MiniLM, if it isn't the cache's. `words_only` leaves the models out, and
    `second_opinion=False` the second one, which is faster, needs less memory and understands less. `tell` gets the
    one line about what can't be used; without it that goes to the log `duologue` as a warning.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        words_only: bool = False,
        second_opinion: bool = True,
        tell: Callable[[str], None] = _log.warning,
    ) -> None:
        self.notice = ""
        """Why a model isn't used, and what to run about it; empty if all are well."""
        self._folder = folder
        self._words_only = words_only
        self._wants_opinion = second_opinion
        self._tell = tell
        self._reader: _Reader | None = None
        self._one_core: Callable[[], AbstractContextManager[None]] = nullcontext
        self._minilm: MiniLm | None = None
        self._learned: OrderedDict[tuple[str, frozenset[Intent]], tuple[list[str], Learned]] = OrderedDict()
        self._lock = threading.RLock()

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        """What this message means, of what is open at this turn."""
        return await asyncio.get_running_loop().run_in_executor(None, self.judge, message, scope)

    def judge(self, message: str, scope: MessageScope) -> Understanding:
        """The same, here and now. Slots are left to grammars."""
        text = shortened(message)
        if not scope.intents or not any(char.isalnum() for char in text):
            return Understanding(by=self._ready().by)
        while True:
            reader = self._ready()
            try:
                return self._judge(reader, text, scope)
            except DuologueError as problem:  # only the models raise these, and they won't get better
                self._give_up(reader, str(problem))

    def prepare(self, *scopes: MessageScope) -> None:
        """Learn these scopes now rather than with the first message in them."""
        for scope in scopes:
            if scope.intents and (self._ready().by, frozenset(scope.intents)) not in self._learned:
                self.judge("hello", scope)

    # -- What was learned

    def _judge(self, reader: _Reader, text: str, scope: MessageScope) -> Understanding:
        with self._one_core():
            names, learned = self._learn(reader, frozenset(scope.intents))
            scores = learned.scores(text)
        return reader.certainty.understanding(names, scores, reader.by)

    def _learn(self, reader: _Reader, scope: frozenset[Intent]) -> tuple[list[str], Learned]:
        key = reader.by, scope
        with self._lock:
            if key not in self._learned:
                intents = sorted(scope, key=lambda intent: intent.name)
                learned = reader.learn([intent.phrases for intent in intents])
                self._learned[key] = [intent.name for intent in intents], learned
            self._learned.move_to_end(key)
            while len(self._learned) > SCOPES_MAX:
                self._learned.popitem(last=False)
            return self._learned[key]

    # -- What there is to learn with

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
            from .minilm import MiniLm, shared_minilm

            self._minilm = MiniLm(self._folder) if self._folder else shared_minilm()
        except ModuleNotFoundError as missing:
            if missing.name != "numpy":
                raise
            self._use_words("numpy is missing; run `pip install 'duologue[nlu]'`")
        except (DuologueError, OSError) as problem:
            self._use_words(str(problem))
        else:
            self._use_models(self._second_opinion())

    def _second_opinion(self) -> E5 | None:
        """Whoever has it gets it; whoever never pulled it is told nothing."""
        if not self._wants_opinion:
            return None
        from .e5 import shared_e5

        try:
            return shared_e5()
        except ModelMissing:
            return None
        except (DuologueError, OSError, ModuleNotFoundError) as problem:
            if isinstance(problem, ModuleNotFoundError) and problem.name != "onnxruntime":
                raise
            self._say(f"messages are understood without a second opinion: {problem}")
            return None

    def _give_up(self, reader: _Reader, why: str) -> None:
        """Go on with what is left."""
        with self._lock:
            if self._reader is not reader:
                return  # another thread was first
            self._learned.clear()
            if reader.by == BOTH:
                self._say(f"messages are understood without a second opinion: {why}")
                self._use_models(None)
            else:
                self._use_words(why)

    def _use_models(self, e5: E5 | None) -> None:
        from .blas_threads import one_core
        from .embeddings import Embeddings
        from .numpy_classifier import DeepScope

        assert self._minilm is not None, "the second model never works alone"
        embeddings = Embeddings(self._minilm, e5)
        self._one_core = one_core
        by, certainty = (BOTH, DEEPER) if e5 else ("minilm", DEEP)
        self._reader = _Reader(by, certainty, lambda phrases: DeepScope(phrases, embeddings))

    def _say(self, notice: str) -> None:
        self.notice = notice
        self._tell(notice)

    def _use_words(self, why: str) -> None:
        with self._lock:
            if why:
                self._say(f"messages are understood by their words alone: {why}")
            try:
                from .blas_threads import one_core
                from .numpy_classifier import WordScope
            except ModuleNotFoundError as missing:
                if missing.name != "numpy":
                    raise
                self._reader = _Reader("words", PLAIN, PlainScope)
            else:
                self._one_core = one_core
                self._reader = _Reader("words", WORDS, WordScope)
