"""What a language model answered, taken at no more than its word.

A model may wrap its JSON in prose or a code fence, and may think aloud before it; that is forgiven. Rule: an
intent or a slot that isn't open, a confidence that is no probability, and words that nobody said are left out,
and what is no answer at all is `UnreadableAnswer`.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from duologue.core.errors import DuologueError

from .calibration import IN_SCOPE_MIN
from .understanding import GUESSES_MAX, Guess, MessageScope, Quote, Understanding

_START = re.compile(r'\{\s*"guesses"')


class UnreadableAnswer(DuologueError):
    """No answer at all. What came is not told: it may hold somebody's words."""


def read_answer(answer: dict[str, Any] | str, message: str, scope: MessageScope) -> Understanding:
    """The answer as far as it keeps to what is open."""
    data = _object(answer) if isinstance(answer, str) else answer
    guesses, slots = data.get("guesses"), data.get("slots", {})
    if not isinstance(guesses, list) or not isinstance(slots, dict | None):
        raise UnreadableAnswer
    found = _guesses(guesses, {intent.name for intent in scope.intents})
    in_scope = min(1.0, sum(guess.confidence for guess in found))
    return Understanding(
        found,
        bool(found) and found[0].confidence >= IN_SCOPE_MIN,
        in_scope,
        _quotes(slots or {}, message, scope),
        by="llm",
    )


def _object(text: str) -> dict[str, Any]:
    """The last answer in a text: what comes before it may be thoughts, with braces of their own."""
    starts = [match.start() for match in _START.finditer(text)] or [text.find("{")]
    try:
        data = json.loads(text[starts[-1] : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        raise UnreadableAnswer from None
    if not isinstance(data, dict):
        raise UnreadableAnswer
    return data


def _guesses(data: list[Any], names: set[str]) -> tuple[Guess, ...]:
    """Each intent once, and no more certainty than there is."""
    found: dict[str, float] = {}
    for entry in data:
        intent = entry.get("intent") if isinstance(entry, dict) else None
        if isinstance(intent, str) and intent in names and intent not in found:
            confidence = _probability(entry.get("confidence"))
            if confidence is not None:
                found[intent] = confidence
    total = max(1.0, sum(found.values()))
    ranked = sorted(found.items(), key=lambda entry: -entry[1])[:GUESSES_MAX]
    return tuple(Guess(intent, confidence / total) for intent, confidence in ranked)


def _probability(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= 1 else None


def _quotes(slots: dict[Any, Any], message: str, scope: MessageScope) -> tuple[Quote, ...]:
    """In the order of the scope; only what stands in the message."""
    said = _plain(message)
    return tuple(
        Quote(slot.name, text.strip())
        for slot in scope.slots
        if isinstance(text := slots.get(slot.name), str) and _plain(text) and _plain(text) in said
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
