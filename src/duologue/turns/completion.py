"""Scores a pause: the log-odds that the turn is over, and the reasons.

The score is a weighted sum of the known features. A positive score means that the turn is probably over, and a negative
score that more will probably come. The weights are tables in `completion_table`, fitted by tools/fit_turns.py. A
separate table is used if the text is missing, or if the judgement of Smart Turn (a model that judges by the sound
whether a turn is over) is missing. If the shape of the loudness or the confidence of the words is missing, a typical
value is used. Rule: the brain's judgement of the text (see `completeness`) is added to the score, whichever table is
used.
"""

from __future__ import annotations

import math
from operator import mul
from typing import NamedTuple

from .completeness import COMPLETENESS_WEIGHTS, Completeness
from .completion_table import TABLES, Table
from .features import LevelShape, PauseFeatures, shape_terms, terms_of

EMBEDDING = "turn_embedding"
BRAIN_NAMES = {Completeness.COMPLETE: "understood", Completeness.OPEN: "not_understood_yet"}


class Contribution(NamedTuple):
    """One term of the score, and how much it adds to the score compared with an average pause."""

    name: str
    amount: float


def table_of(pause: PauseFeatures) -> str | None:
    """The name of the table of weights that fits the known features of a pause. None if neither the text nor Smart
    Turn's judgement is known."""
    if pause.turn_logit is None:
        return "text_only" if pause.text is not None else None
    embedded = len(pause.turn_embedding) == len(TABLES["everything"].embedding)
    if pause.text is None:
        return "no_text" if embedded else "logit_only"
    return "everything" if embedded else "no_embedding"


def contributions(pause: PauseFeatures) -> tuple[Contribution, ...]:
    """The contributions of all terms, sorted by their absolute value with the largest first. Empty if neither the text
    nor Smart Turn's judgement is known."""
    name = table_of(pause)
    if name is None:
        return ()
    table, terms = TABLES[name], {**shape_terms(LevelShape()), **terms_of(pause)}
    found = [Contribution(term, weight * (terms[term] - mean)) for term, (weight, mean) in table.terms.items()]
    if table.embedding:
        found.append(Contribution(EMBEDDING, _embedded(table, pause.turn_embedding)))
    if pause.completeness in COMPLETENESS_WEIGHTS:
        found.append(Contribution(BRAIN_NAMES[pause.completeness], COMPLETENESS_WEIGHTS[pause.completeness]))
    return tuple(sorted(found, key=lambda part: -abs(part.amount)))


def score(pause: PauseFeatures) -> float | None:
    """The log-odds that the turn is over; None if neither the text nor Smart Turn's judgement is known."""
    name = table_of(pause)
    return None if name is None else TABLES[name].start + sum(part.amount for part in contributions(pause))


def probability(pause: PauseFeatures) -> float:
    """The probability that the turn is over; 0.5 if neither the text nor Smart Turn's judgement is known. The
    probability assumes that half of all pauses end a turn."""
    found = score(pause)
    return 0.5 if found is None else 1 / (1 + math.exp(-min(max(found, -30.0), 30.0)))


def reasons(pause: PauseFeatures, count: int = 3) -> tuple[str, ...]:
    """The `count` largest contributions, each as text with its name and amount, such as "comma-1.2"."""
    return tuple(f"{part.name}{part.amount:+.1f}" for part in contributions(pause)[:count])


def _embedded(table: Table, values: tuple[float, ...]) -> float:
    found = float(sum(map(mul, table.embedding, values)) - table.embedding_mean)
    return found if math.isfinite(found) else 0.0
