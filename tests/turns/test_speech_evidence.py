"""Whether a sound was speech: how sure the frames, the pitch, the words and another model are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.turns.features import PauseFeatures
from duologue.turns.speech_evidence import (
    CONFIDENCE_SURE,
    EVIDENCE_CLEAR,
    EVIDENCE_LONG,
    EVIDENCE_TALK,
    PITCHED_MS_CLEAR,
    PITCHED_MS_FAINT,
    STEADY_MIN,
    is_clear,
    is_doubtful,
    is_speech,
    is_worth_asking,
    steadiness,
)


def sound(frames: int, each: float, **known: Any) -> PauseFeatures:
    """A stretch of so many voiced frames, each with these log-odds of voice."""
    ms, evidence = 32 * frames, each * frames
    return PauseFeatures(ms, evidence, stretch_ms=ms, stretch_evidence=evidence, **known)


def test_steadiness_is_the_mean_of_the_frames() -> None:
    assert steadiness(sound(10, 3.0)) == pytest.approx(3.0)
    assert steadiness(PauseFeatures()) == 0.0


@pytest.mark.parametrize("text", ["Okay.", "Uh-huh", "Yeah.", "I don't know."])
@pytest.mark.parametrize("pitched_ms", [None, 0, 60, 400])
def test_a_cough_with_unsure_words_is_no_speech(text: str, pitched_ms: int | None) -> None:
    """Its frames are hardly a voice."""
    cough = sound(5, 1.5, text=text, confidence=CONFIDENCE_SURE - 0.01, pitched_ms=pitched_ms)
    assert is_speech(cough) is False


def test_a_cough_that_sounds_like_a_voice_has_no_steady_pitch() -> None:
    cough = sound(8, 3.2, text="Uh-huh", confidence=0.64)
    assert is_clear(cough)
    assert is_speech(cough) is None, "the pitch isn't measured yet"
    assert is_speech(sound(8, 3.2, text="Uh-huh", confidence=0.64, pitched_ms=PITCHED_MS_CLEAR - 20)) is False
    assert is_speech(sound(8, 3.2, text="Uh-huh", confidence=0.64, pitched_ms=PITCHED_MS_CLEAR)) is True


@pytest.mark.req("V-06")
@pytest.mark.parametrize("text", ["Yes.", "No.", "Four K.", "Mm-hmm.", "Chicago."])
@pytest.mark.parametrize("confidence", [0.0, 0.17, 0.5, 0.99])
def test_a_short_answer_in_a_clear_voice_is_speech_whatever_was_read(text: str, confidence: float) -> None:
    assert is_speech(sound(9, 3.0, text=text, confidence=confidence, pitched_ms=160)) is True


@pytest.mark.req("V-06")
def test_sure_words_in_a_clear_voice_need_no_pitch() -> None:
    """The vowel of "six" is short."""
    assert is_speech(sound(9, 3.0, text="Six.", confidence=CONFIDENCE_SURE)) is True
    assert is_speech(sound(9, 3.0, text="Um.", confidence=0.99)) is None, "a filler is what noise is read as"


@pytest.mark.req("V-06")
def test_a_faint_voice_needs_words_and_pitch() -> None:
    def faint(confidence: float, pitched_ms: int | None, second: str | None = None) -> bool | None:
        return is_speech(sound(6, 0.8, text="Four.", confidence=confidence, pitched_ms=pitched_ms, second_text=second))

    assert faint(CONFIDENCE_SURE, PITCHED_MS_FAINT) is True
    assert faint(CONFIDENCE_SURE, PITCHED_MS_FAINT - 20) is False
    assert faint(CONFIDENCE_SURE - 0.01, PITCHED_MS_FAINT) is False
    assert faint(CONFIDENCE_SURE, None) is None
    assert faint(0.1, PITCHED_MS_FAINT, "Four.") is True, "two models found a word"
    assert faint(0.1, PITCHED_MS_FAINT, "Mm.") is False


def test_a_clear_voice_with_a_steady_pitch_keeps_its_words_even_if_another_model_finds_none() -> None:
    # Past bug: the first half second of a sentence was dropped, because the second model found no word in it.
    def clear(pitched_ms: int | None, frames: int = 14) -> bool | None:
        return is_speech(sound(frames, 2.6, text="And", confidence=0.45, pitched_ms=pitched_ms, second_text=""))

    assert clear(PITCHED_MS_FAINT) is True
    assert clear(PITCHED_MS_FAINT - 20) is False
    assert clear(None) is None, "the pitch isn't measured yet"
    assert clear(None, frames=28) is False, "its pitch is never measured"


@pytest.mark.parametrize(
    ("known", "is_worth"),
    [
        (sound(8, 3.2, text="Uh-huh"), True),
        (sound(8, 3.2, text="Yes.", confidence=CONFIDENCE_SURE - 0.01), True),
        (sound(8, 3.2, text="Yes.", confidence=CONFIDENCE_SURE), False),
        (sound(5, 0.8, text="Four."), True),
        (sound(5, 0.8, text="Four.", pitched_ms=PITCHED_MS_FAINT), True),
        (sound(5, 0.8, text="Four.", pitched_ms=PITCHED_MS_FAINT - 20), False),
        (sound(8, 3.2, text=""), False),
        (sound(25, 3.2, text="Oh", confidence=0.24), True),
        (sound(25, 3.2, text="Chicago.", confidence=CONFIDENCE_SURE), False),
        (sound(60, 3.2, text="A table for two."), False),
    ],
    ids=str,
)
def test_another_model_is_asked_where_it_may_decide(known: PauseFeatures, is_worth: bool) -> None:
    assert is_worth_asking(known) is is_worth


def test_where_another_model_found_no_word_there_was_none() -> None:
    for frames in (9, 27):
        snore = sound(frames, 3.1, text="So", confidence=0.6, pitched_ms=100)
        assert is_speech(snore) is is_speech(replace(snore, second_text="No")) is True
        assert is_speech(replace(snore, second_text="")) is False


def test_sure_words_in_a_clear_voice_are_not_dropped_because_another_model_found_none() -> None:
    assert is_speech(sound(27, 3.1, text="Two.", confidence=CONFIDENCE_SURE, second_text="")) is True


def test_who_talks_for_a_second_is_heard_whatever_the_models_say() -> None:
    talk = sound(40, EVIDENCE_TALK / 40, text="", confidence=0.0, pitched_ms=0, second_text="")
    assert not is_doubtful(talk)
    assert is_speech(talk) is True


def test_half_a_second_of_clear_voice_needs_no_pitch() -> None:
    assert is_speech(sound(16, EVIDENCE_LONG / 16, text="Walk, cave,", confidence=0.16, pitched_ms=0)) is True


def test_ears_without_frames_are_believed() -> None:
    assert is_speech(PauseFeatures(text="Okay.", confidence=0.1)) is True
    assert is_speech(PauseFeatures(0, 0.0, text="Okay.", confidence=0.1)) is True, "its turn was cut in the middle"


@pytest.mark.parametrize(
    ("frames", "each", "doubtful"),
    [(5, 4.0, True), (15, 4.0, False), (40, 1.0, True), (60, 2.0, False), (20, STEADY_MIN - 0.01, True)],
)
def test_the_pitch_is_worth_measuring_where_the_frames_leave_doubt(frames: int, each: float, doubtful: bool) -> None:
    assert is_doubtful(sound(frames, each)) is doubtful


@given(
    frames=st.integers(1, 100),
    each=st.floats(0, 4),
    text=st.sampled_from(["", "Um.", "Yes.", "book it"]),
    confidence=st.floats(0, 1),
    pitched_ms=st.integers(0, 1_000),
    second=st.sampled_from([None, "", "Yes."]),
)
def test_once_the_pitch_is_known_it_is_decided(
    frames: int, each: float, text: str, confidence: float, pitched_ms: int, second: str | None
) -> None:
    known = {"text": text, "confidence": confidence, "second_text": second}
    decided = is_speech(sound(frames, each, **known, pitched_ms=pitched_ms))
    assert decided is not None
    early = is_speech(sound(frames, each, **known))
    assert early in (None, decided), "what is decided before the pitch is known stays so"


def test_the_thresholds_are_in_order() -> None:
    assert EVIDENCE_CLEAR < EVIDENCE_LONG < EVIDENCE_TALK


def test_half_a_second_of_sure_voice_is_clear_however_unsure_the_rest_is() -> None:
    sure_ms, unsure_ms = 15 * 32, 40 * 32
    half = PauseFeatures(sure_ms, EVIDENCE_LONG, stretch_ms=sure_ms, stretch_evidence=EVIDENCE_LONG)
    assert is_clear(half)
    assert is_clear(replace(half, voiced_ms=unsure_ms, stretch_ms=unsure_ms)), "an unsure part takes nothing away"
