"""Checks the reports from the ears (STT and VAD).

A NaN in a report would spread through every later decision. Rule: an invalid report raises BrokenContract before it
changes anything.
"""

from __future__ import annotations

import math
from dataclasses import fields

from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Final, Heard, Partial, Pause, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame
from duologue.ports.failure import BrokenContract
from duologue.turns.features import LevelShape, PauseFeatures

_REPORTS = (SpeechBegan, SpeechEnded, VoiceFrame, Pause, Partial, Final, TurnOver)


def check_report(heard: Heard) -> None:
    """Raise BrokenContract if this isn't a report, or if its text or a number in it is invalid."""
    if not isinstance(heard, _REPORTS):
        raise BrokenContract(ErrorClass.SERVER_ERROR, f"ears reported {type(heard).__name__}, not a report of speech")
    if type(heard.utterance) is not int or heard.utterance < 0:
        raise BrokenContract(ErrorClass.SERVER_ERROR, "ears reported an invalid utterance number")
    check_numbers(heard)
    if isinstance(heard, Partial | Final) and (type(heard.text) is not str or not _is_fraction(heard.confidence)):
        raise BrokenContract(ErrorClass.SERVER_ERROR, "ears reported an invalid text or confidence")


def check_numbers(heard: Heard) -> None:
    """Raise BrokenContract if a number in this report is missing, not finite or out of range."""
    match heard:
        case SpeechEnded():
            sane = _is_time(heard.quiet_ms)
        case VoiceFrame():
            sane = _is_fraction(heard.probability) and _is_number(heard.energy) and heard.energy >= 0
            sane = sane and _is_time(heard.ms) and heard.ms > 0 and _is_time(heard.quiet_ms)
        case Pause():
            sane = isinstance(heard.features, PauseFeatures) and _are_features(heard.features)
            sane = sane and _is_time(heard.quiet_ms)
        case Partial():
            sane = heard.stability is None or _is_fraction(heard.stability)
        case Final():
            sane = heard.last_confidence is None or _is_fraction(heard.last_confidence)
            sane = sane and type(heard.first_text) is str and _is_fraction(heard.first_confidence)
        case _:
            sane = True
    if not sane:
        raise BrokenContract(ErrorClass.SERVER_ERROR, f"ears reported a {type(heard).__name__} with invalid numbers")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_fraction(value: object) -> bool:
    return _is_number(value) and 0 <= value <= 1  # type: ignore[operator]


def _is_time(value: object) -> bool:
    return type(value) is int and value >= 0


def _are_features(features: PauseFeatures) -> bool:
    known = (features.voiced_ms, features.evidence, features.pitched_ms, features.turn_logit)
    if not all(value is None or _is_number(value) for value in (*known, features.confidence, features.last_confidence)):
        return False
    shape = features.shape
    if shape is not None and not (
        isinstance(shape, LevelShape) and all(_is_number(getattr(shape, one.name)) for one in fields(shape))
    ):
        return False
    return isinstance(features.turn_embedding, tuple) and all(map(_is_number, features.turn_embedding))
