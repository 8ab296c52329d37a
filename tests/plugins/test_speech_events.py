"""Speech events of STT plugins, also of those that can't be run here: their events have the same form."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from duologue.ears.service_utterances import OnsetHeard, SilenceHeard, TextHeard
from duologue.plugins.speech_events import read_event, usage_of
from duologue.ports.usage import Usage
from tests.needs import needs_package


def event(kind: str, *alternatives: Any, **fields: Any) -> Any:
    return SimpleNamespace(type=SimpleNamespace(value=kind), alternatives=list(alternatives), **fields)


def said(text: str = "yes", **fields: Any) -> Any:
    return SimpleNamespace(text=text, **{"confidence": 0.0, "end_time": 0.0, "words": None, **fields})


def test_onsets_and_ends() -> None:
    assert read_event(event("start_of_speech")) == OnsetHeard()
    assert read_event(event("end_of_speech")) == SilenceHeard()


def test_texts_by_kind() -> None:
    assert read_event(event("interim_transcript", said())) == TextHeard("yes")
    assert read_event(event("preflight_transcript", said())) == TextHeard("yes", stable=True)
    assert read_event(event("final_transcript", said(end_time=1.25))) == TextHeard("yes", end_ms=1_250, settled=True)


@pytest.mark.parametrize("confidence", [0.0, None, float("nan"), -1.0, 7.0, True])
def test_a_confidence_that_is_not_known_is_not_low(confidence: object) -> None:
    found = read_event(event("final_transcript", said(confidence=confidence)))
    assert isinstance(found, TextHeard)
    assert found.confidence == 1.0


def test_the_last_words_confidence() -> None:
    words = [SimpleNamespace(confidence=0.9), SimpleNamespace(confidence=0.4)]
    found = read_event(event("final_transcript", said(words=words)))
    assert isinstance(found, TextHeard)
    assert found.last_confidence == 0.4


@pytest.mark.parametrize("strange", [event("recognition_usage"), event("final_transcript"), event("metrics"), object()])
def test_events_without_meaning_are_ignored(strange: Any) -> None:
    assert read_event(strange) is None


def test_usage_is_counted() -> None:
    told = event("recognition_usage", recognition_usage=SimpleNamespace(audio_duration=2.5))
    assert usage_of(told) == Usage(heard_ms=2_500)
    assert usage_of(event("end_of_speech")) == Usage()


def test_the_names_are_those_of_the_package() -> None:
    needs_package("livekit.agents", "pip install 'duologue[dev]'")
    from livekit.agents.stt import SpeechEventType

    assert {kind.value for kind in SpeechEventType} == {
        "start_of_speech",
        "interim_transcript",
        "preflight_transcript",
        "final_transcript",
        "recognition_usage",
        "end_of_speech",
    }
