"""NLU on this computer, by a regression for each scope. It works on embeddings or, if there are no models, on words
alone.

A scope is the set of intents that are possible at a turn. Models and scopes are loaded only when they are needed: a
scope is learned from its phrases when it is first used, or earlier by `prepare`. Each phrase is embedded only once,
even if it is in many scopes. Rule: a message always gets an answer. If a model is missing or damaged, a warning names
the command that repairs it. Then only the other model is used; if no model is left, words alone are used.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from duologue.core.errors import DuologueError
from duologue.fairness.fair_threads import NLU
from duologue.models.cache import ModelMissing

from .calibration import MINILM, MINILM_AND_E5, WORDS, WORDS_WITHOUT_NUMPY, Calibration, Scores
from .stdlib_classifier import PlainScope
from .understanding import Intent, MessageScope, Understanding, shortened

if TYPE_CHECKING:
    from .e5 import E5
    from .minilm import MiniLm

SCOPES_MAX = 64
BOTH = "minilm+e5"
_log = logging.getLogger("duologue")


class Learned(Protocol):
    """A scope after it was learned from its phrases. It can score messages."""

    def scores(self, message: str) -> Scores: ...


class _Reader:
    """One method to learn scopes. There are three: with the models, from words with numpy, and from words without
    numpy."""

    def __init__(self, by: str, calibration: Calibration, learn: Callable[[list[tuple[str, ...]]], Learned]) -> None:
        self.by = by
        self.calibration = calibration
        self.learn = learn


class LocalNlu:
    """Understands messages on this computer. All conversations share one instance, and it may be used from many
    threads.

    `folder` is the folder of MiniLM, if it isn't in the model cache. If `words_only` is true, no model is used. If
    `second_opinion` is False, the second model (E5) isn't used, which is faster and needs less memory, but is less
    accurate. If a model can't be used, `warn` is called with one line that says so. By default, this line is logged as
    a warning of the logger `duologue`.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        words_only: bool = False,
        second_opinion: bool = True,
        warn: Callable[[str], None] = _log.warning,
    ) -> None:
        self.notice = ""
        """Why a model isn't used, and the command that repairs it; empty if all models work."""
        self._folder = folder
        self._words_only = words_only
        self._wants_second = second_opinion
        self._warn = warn
        self._reader: _Reader | None = None
        self._one_core: Callable[[], AbstractContextManager[None]] = nullcontext
        self._minilm: MiniLm | None = None
        self._learned: OrderedDict[tuple[str, frozenset[Intent]], tuple[list[str], Learned]] = OrderedDict()
        self._lock = threading.RLock()

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        """Find the intent of this message among the intents that are possible at this turn."""
        return await NLU.run(self.judge, message, scope)

    def judge(self, message: str, scope: MessageScope) -> Understanding:
        """The same as `understand`, but runs in the caller's thread. Both methods find only intents; slots are found by
        grammars."""
        text = shortened(message)
        if not scope.intents or not any(char.isalnum() for char in text):
            return Understanding(by=self._ready().by)
        while True:
            reader = self._ready()
            try:
                return self._judge(reader, text, scope)
            except DuologueError as problem:  # only the models raise a DuologueError, and a retry wouldn't help
                self._give_up(reader, str(problem))

    def prepare(self, *scopes: MessageScope) -> None:
        """Learn these scopes now, so that their first message needn't wait."""
        for scope in scopes:
            if scope.intents and (self._ready().by, frozenset(scope.intents)) not in self._learned:
                self.judge("hello", scope)

    # -- Learned scopes

    @property
    def learned_scopes(self) -> tuple[Learned, ...]:
        """The scopes that are stored at the moment, the least recently used first."""
        with self._lock:
            return tuple(learned for _, learned in self._learned.values())

    def _judge(self, reader: _Reader, text: str, scope: MessageScope) -> Understanding:
        with self._one_core():
            names, learned = self._learn(reader, frozenset(scope.intents))
            scores = learned.scores(text)
        return reader.calibration.understanding(names, scores, reader.by)

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

    # -- The models

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
        """The second model; None if it can't be used. There is no warning if the model was never pulled."""
        if not self._wants_second:
            return None
        from .e5 import shared_e5

        try:
            return shared_e5()
        except ModelMissing:
            return None
        except (DuologueError, OSError, ModuleNotFoundError) as problem:
            if isinstance(problem, ModuleNotFoundError) and problem.name != "onnxruntime":
                raise
            self._warn_once(f"the second NLU model isn't used: {problem}")
            return None

    def _give_up(self, reader: _Reader, why: str) -> None:
        """Continue without the model that failed. If both models were used, only the first is used from now on;
        otherwise words alone are used."""
        with self._lock:
            if self._reader is not reader:
                return  # another thread has already replaced the reader
            self._learned.clear()
            if reader.by == BOTH:
                self._warn_once(f"the second NLU model isn't used: {why}")
                self._use_models(None)
            else:
                self._use_words(why)

    def _use_models(self, e5: E5 | None) -> None:
        from .blas_threads import one_core
        from .embeddings import Embeddings
        from .numpy_classifier import DeepScope

        assert self._minilm is not None, "the second model needs the first"
        embeddings = Embeddings(self._minilm, e5)
        self._one_core = one_core
        by, calibration = (BOTH, MINILM_AND_E5) if e5 else ("minilm", MINILM)
        self._reader = _Reader(by, calibration, lambda phrases: DeepScope(phrases, embeddings))

    def _warn_once(self, notice: str) -> None:
        self.notice = notice
        self._warn(notice)

    def _use_words(self, why: str) -> None:
        with self._lock:
            if why:
                self._warn_once(f"messages are understood by their words alone: {why}")
            try:
                from .blas_threads import one_core
                from .numpy_classifier import WordScope
            except ModuleNotFoundError as missing:
                if missing.name != "numpy":
                    raise
                self._reader = _Reader("words", WORDS_WITHOUT_NUMPY, PlainScope)
            else:
                self._one_core = one_core
                self._reader = _Reader("words", WORDS, WordScope)
