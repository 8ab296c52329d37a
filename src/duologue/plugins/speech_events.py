"""Reads the speech events of an STT plugin.

Rule: a confidence of 0 counts as unknown, because most plugins leave it at 0 if they don't know it.
"""

from __future__ import annotations

from typing import Any

from duologue.ears.service_utterances import Given, OnsetHeard, SilenceHeard, TextHeard
from duologue.ports.usage import Usage

_TEXTS = {"interim_transcript", "preflight_transcript", "final_transcript"}


def read_event(event: Any) -> Given | None:
    """The plugin's event as an event of Duologue's ears; None if the ears don't need it."""
    kind = _kind(event)
    if kind == "start_of_speech":
        return OnsetHeard()
    if kind == "end_of_speech":
        return SilenceHeard()
    alternatives = getattr(event, "alternatives", None)
    if kind not in _TEXTS or not alternatives:
        return None
    said = alternatives[0]
    words = getattr(said, "words", None) or ()
    return TextHeard(
        str(getattr(said, "text", "") or ""),
        _fraction(getattr(said, "confidence", 0.0)) or 1.0,
        round(_number(getattr(said, "end_time", 0.0)) * 1000),
        settled=kind == "final_transcript",
        stable=kind == "preflight_transcript",
        last_confidence=_fraction(getattr(words[-1], "confidence", None)) if words else None,
    )


def usage_of(event: Any) -> Usage:
    """The usage that this event reports. If the event reports no usage, all amounts are zero."""
    told = getattr(event, "recognition_usage", None) if _kind(event) == "recognition_usage" else None
    return Usage(heard_ms=round(_number(getattr(told, "audio_duration", 0.0)) * 1000))


def _kind(event: Any) -> str:
    kind = getattr(event, "type", "")
    return str(getattr(kind, "value", kind))


def _number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < float("inf") else 0.0


def _fraction(value: Any) -> float | None:
    """A confidence from 0 to 1; None if the value is 0 or isn't a valid confidence."""
    number = _number(value)
    return number if 0 < number <= 1 else None
