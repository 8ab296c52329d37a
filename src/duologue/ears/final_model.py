"""The model that transcribes final texts. This is the model that also transcribes partial texts (the first model), or a
better model if it is fast enough.

The better model is loaded in the background. If it was chosen with `base` and isn't installed, it is downloaded first.
Until it is loaded, and whenever it is too slow, the first model's text is reported. Rule: the better model never delays
or blocks a call. `final_pace` decides from measured times whether the better model is fast enough.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

from duologue.models.background import BackgroundPull
from duologue.models.cache import ModelMissing

from .dictation import Transcribes
from .final_pace import LENGTH_MS_MAX, FinalPace
from .moonshine import Moonshine
from .stream_state import FinalModelOffer

FinalChoice: TypeAlias = Literal["tiny", "doubt", "base", "auto"]
"""Which model writes final texts. `tiny`: the model that also writes partial texts. `doubt`: the same model, but if the
better model is installed, it is asked about sounds that may not be speech and about clear voices without words. `base`:
the better model, downloaded if it is missing. `auto`: the better model, if it is installed and fast enough."""
CHOICES: tuple[FinalChoice, ...] = get_args(FinalChoice)

MODEL = "moonshine-base"
LOG = logging.getLogger("duologue.ears")


class FinalModel:
    """The larger and more accurate STT model of one `LocalEars`. It transcribes final texts, while a smaller and faster
    model transcribes partial texts. All conversations of these ears share the larger model."""

    def __init__(
        self,
        choice: FinalChoice,
        make: Callable[[], Transcribes] = lambda: Moonshine("base"),
        pulls: Callable[[str, Callable[[], None]], BackgroundPull] = BackgroundPull,
    ) -> None:
        if choice not in CHOICES:
            raise ValueError(f"final_model must be one of {', '.join(CHOICES)}, not {choice!r}")
        self.choice: FinalChoice = choice
        self._make = make
        self._pull = pulls(MODEL, self._load)
        self._changing = threading.Lock()
        self._is_started = choice == "tiny"
        self._model: Transcribes | None = None
        self._pace = FinalPace()
        self._problem = ""

    def load(self) -> None:
        """Load the model now if it is installed. If it isn't installed but was chosen with `base`, download it in the
        background."""
        if self._begins():
            self._load_or_fetch()

    def start(self) -> None:
        """Do the same as `load`, in the background."""
        if self._begins():
            threading.Thread(target=self._load_or_fetch, name="duologue-final-model", daemon=True).start()

    @property
    def model(self) -> Transcribes | None:
        """The model; None if it isn't loaded or isn't used."""
        return self._model

    @property
    def offer(self) -> FinalModelOffer:
        """Whether a stream may use the model now, and up to which length of utterances."""
        if self._model is None:
            return FinalModelOffer()
        if self.choice == "doubt":
            return FinalModelOffer(True, 0)
        return FinalModelOffer(True, LENGTH_MS_MAX if self.choice == "base" else self._pace.length_ms_max)

    @property
    def status(self) -> dict[str, Any]:
        """Which model was chosen, whether it is ready, and what went wrong. Used in journals and by programs."""
        return {
            "final_model": self.choice,
            "final_model_ready": self._model is not None,
            "final_model_problem": self._problem or self._pull.status.problem,
            "final_model_pull": str(self._pull.status),
        }

    # -- Measured times

    def ran(self, length_ms: int, took_ms: float) -> None:
        """Record how long the model took to transcribe an utterance."""
        self._pace = self._pace.ran(length_ms, took_ms)

    def skipped(self) -> None:
        """Record that an utterance was transcribed without this model."""
        self._pace = self._pace.skipped()

    def give_up(self, why: str) -> None:
        """Stop using the model, because it failed."""
        self._model = None
        self._problem = why

    # -- Loading

    def _begins(self) -> bool:
        with self._changing:
            begins, self._is_started = not self._is_started, True
            return begins

    def _load_or_fetch(self) -> None:
        try:
            self._load()
        except ModelMissing as missing:
            if self.choice == "base":
                LOG.info("downloading %s in the background; until then, another model writes the final texts", MODEL)
                self._pull.start()
            else:
                self._problem = str(missing)

    def _load(self) -> None:
        try:
            model = self._make()
            model.load()
        except ModelMissing:
            raise
        except Exception as failure:  # noqa: BLE001 - without this model, everything else goes on
            self.give_up(type(failure).__name__)
            LOG.warning("%s can't be loaded (%s): another model writes the final texts", MODEL, type(failure).__name__)
        else:
            self._model = model
