"""Reads the answer of a language model and keeps only what passes all checks.

A model may write other text around its JSON, put the JSON into a code fence, or write its thoughts before the JSON. All
of this is accepted. Rule: unknown intents and slots, confidences that aren't between 0 and 1, and words that aren't in
the message are dropped. An answer that isn't in the expected form raises `UnreadableAnswer`.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from duologue.core.errors import DuologueError

from .calibration import IN_SCOPE_MIN
from .understanding import GUESSES_MAX, Guess, MessageScope, ModelValue, Quote, Understanding

VALUE_CHARS_MAX = 500
ANSWER_SAID_CHARS_MAX = 300
_START = re.compile(r'\{\s*"guesses"')


class UnreadableAnswer(DuologueError):
    """The model's answer isn't in the expected form. The error doesn't contain the answer, because the answer may quote
    the user."""


def read_answer(answer: dict[str, Any] | str, message: str, scope: MessageScope) -> Understanding:
    """What the message means according to this answer. Invalid parts of the answer are left out. Raises
    `UnreadableAnswer` if the answer isn't in the expected form."""
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
        _values(data.get("values"), scope),
        _answer(data.get("answer")),
        by="llm",
    )


def _object(text: str) -> dict[str, Any]:
    """The JSON object at the end of a text. Other text may come before the object, even text with braces."""
    starts = [match.start() for match in _START.finditer(text)] or [text.find("{")]
    try:
        data = json.loads(text[starts[-1] : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        raise UnreadableAnswer from None
    if not isinstance(data, dict):
        raise UnreadableAnswer
    return data


def _guesses(data: list[Any], names: set[str]) -> tuple[Guess, ...]:
    """The valid guesses, at most one for each intent. If the confidences add up to more than 1, they are scaled
    down."""
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
    """The words of the message that fill each slot, in the order of the scope's slots. If the model returns words that
    aren't in the message, they are dropped."""
    said = _plain(message)
    return tuple(
        Quote(slot.name, text.strip())
        for slot in scope.slots
        if isinstance(text := slots.get(slot.name), str) and _plain(text) and _plain(text) in said
    )


def _values(values: object, scope: MessageScope) -> tuple[ModelValue, ...]:
    """The normalised values that the model returned for slots that are possible at this turn, in the order of the
    scope's slots."""
    given = values if isinstance(values, dict) else {}
    names = [slot.name for slot in scope.slots if given.get(slot.name) is not None]
    return tuple(ModelValue(name, written) for name in names if (written := _written(given[name])))


def _written(value: object) -> str:
    try:
        text = json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return ""
    return text if len(text) <= VALUE_CHARS_MAX else ""


def _answer(text: object) -> str:
    """The sentence that the agent could say to the user, as the model wrote it, on one line. Empty if there is no such
    sentence or if it is too long."""
    said = " ".join(text.split()) if isinstance(text, str) else ""
    return said if len(said) <= ANSWER_SAID_CHARS_MAX and said.isprintable() else ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
