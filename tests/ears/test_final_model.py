"""The better model: used when it is there, fetched only if it was chosen, and never in the way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.final_model import MODEL, FinalChoice, FinalModel
from duologue.ears.final_pace import LENGTH_MS_MAX
from duologue.ears.moonshine import NOTHING, Moonshine, Transcription
from duologue.ears.stream_state import FinalModelOffer
from duologue.models.background import BackgroundPull
from duologue.models.cache import ModelMissing
from duologue.models.failure import PullFailed
from duologue.models.pull import Progress, Pulled, PullStage
from tests.ears.ears_recordings import TWO_CITIES, recording, seconds, word_errors
from tests.limits import WAIT_S


class Nothing:
    partial_ms = 768

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        return NOTHING


class Registry:
    """A registry from which the model can be fetched, once `may` is set."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure
        self.has_model = False
        self.may = threading.Event()
        self.pulls: list[BackgroundPull] = []

    def make(self) -> Nothing:
        if not self.has_model:
            raise ModelMissing(MODEL)
        return Nothing()

    def fetch(self, names: list[str], progress: Progress) -> list[Pulled]:
        progress(names[0], PullStage.FETCHING, 25, 100)
        assert self.may.wait(WAIT_S)
        if self.failure is not None:
            raise self.failure
        self.has_model = True
        return []

    def pulling(self, name: str, on_ready: Callable[[], None]) -> BackgroundPull:
        self.pulls.append(BackgroundPull(name, on_ready, self.fetch))
        return self.pulls[-1]


def model(choice: FinalChoice, registry: Registry) -> FinalModel:
    return FinalModel(choice, registry.make, registry.pulling)


def test_an_installed_model_is_offered_after_it_is_loaded() -> None:
    for choice in ("base", "auto"):
        final = FinalModel(choice, Nothing)
        assert final.offer == FinalModelOffer()
        final.load()
        assert final.offer == FinalModelOffer(True, LENGTH_MS_MAX)
        assert final.status["final_model_ready"]


def test_in_doubt_it_is_offered_for_doubtful_sounds_only_and_never_fetched() -> None:
    final = FinalModel("doubt", Nothing)
    final.load()
    assert final.offer == FinalModelOffer(True, 0)
    registry = Registry()
    missing = model("doubt", registry)
    missing.load()
    assert (missing.offer, registry.pulls[0].status.problem) == (FinalModelOffer(), "")
    assert MODEL in missing.status["final_model_problem"]


def test_tiny_never_loads_it() -> None:
    final = FinalModel("tiny", Nothing)
    final.load()
    assert final.model is None


def test_auto_fetches_nothing_and_says_how_to_get_it() -> None:
    registry = Registry()
    final = model("auto", registry)
    final.load()
    assert final.offer == FinalModelOffer()
    assert str(registry.pulls[0].status) == "idle"
    assert "duologue models pull moonshine-base" in final.status["final_model_problem"]


def test_base_is_fetched_in_the_background_and_then_offered() -> None:
    registry = Registry()
    final = model("base", registry)
    final.load()  # returns while the registry still blocks
    assert final.offer == FinalModelOffer()
    assert final.status["final_model_pull"].endswith(f"{MODEL}, 25 %") or "pulling" in final.status["final_model_pull"]
    registry.may.set()
    registry.pulls[0].wait(WAIT_S)
    assert final.offer.is_ready


def test_a_fetch_that_fails_is_told_and_changes_nothing_else() -> None:
    registry = Registry(PullFailed("the npm registry can't be reached"))
    registry.may.set()
    final = model("base", registry)
    final.load()
    registry.pulls[0].wait(WAIT_S)
    assert final.offer == FinalModelOffer()
    assert final.status["final_model_problem"] == "the npm registry can't be reached"


def test_a_model_that_cannot_be_loaded_is_told_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Nothing):
        def load(self) -> None:
            raise ZeroDivisionError

    final = FinalModel("auto", Broken)
    final.load()
    assert final.model is None
    assert "ZeroDivisionError" in caplog.messages[0]


def test_auto_follows_the_measured_times_and_base_does_not() -> None:
    for choice, follows in (("auto", True), ("base", False)):
        final = FinalModel(choice, Nothing)  # type: ignore[arg-type]
        final.load()
        final.ran(3_000, 3_000)
        assert (final.offer.length_ms_max < 3_000) is follows
        for _ in range(100):
            final.skipped()
        assert final.offer.length_ms_max >= 3_000


def test_a_model_that_failed_is_not_used_any_more() -> None:
    final = FinalModel("base", Nothing)
    final.load()
    final.give_up("ValueError")
    assert final.offer == FinalModelOffer()
    assert final.status["final_model_problem"] == "ValueError"


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="tiny, doubt, base, auto"):
        FinalModel("large")  # type: ignore[arg-type]


def test_both_models_have_the_same_tokens_so_one_drafts_for_the_other(tiny: Moonshine, base: Moonshine) -> None:
    audio = seconds(recording("two_cities"), 0, 6)
    draft = tiny.transcribe(audio)
    alone, helped = base.transcribe(audio), base.transcribe(audio, draft.tokens)
    assert helped.text == alone.text
    assert helped.decoder_runs < alone.decoder_runs / 2
    assert word_errors(TWO_CITIES[:77], helped.text) <= 0.05
    assert np.isfinite(helped.confidence)
