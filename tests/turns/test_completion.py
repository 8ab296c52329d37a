"""How complete a turn sounds: scores by what is known of a pause."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.turns.completion import contributions, probability, reasons, score, table_of
from duologue.turns.completion_table import TABLES
from duologue.turns.features import PauseFeatures

EMBEDDING = tuple(0.1 for _ in TABLES["everything"].embedding)


SURE = PauseFeatures(
    voiced_ms=900,
    evidence=60.0,
    turn_logit=4.0,
    text="I'd like a table for two.",
    confidence=0.9,
    last_confidence=0.95,
)


def test_what_is_unknown_is_never_guessed_but_has_a_table_of_its_own() -> None:
    full = replace(SURE, turn_embedding=EMBEDDING)
    assert table_of(full) == "everything"
    assert table_of(SURE) == "no_embedding"
    assert table_of(replace(SURE, turn_embedding=EMBEDDING[:-1])) == "no_embedding"
    assert table_of(replace(full, text=None)) == "no_text"
    assert table_of(replace(SURE, text=None)) == "logit_only"
    assert table_of(replace(SURE, turn_logit=None)) == "text_only"
    assert table_of(replace(full, turn_logit=None, text=None)) is None


def test_the_score_is_its_start_and_the_sum_of_its_contributions() -> None:
    pause = PauseFeatures(evidence=30.0, text="I want to go to", turn_logit=-2.0)
    parts = contributions(pause)
    name = table_of(pause)
    assert name is not None
    assert score(pause) == pytest.approx(TABLES[name].start + sum(part.amount for part in parts))
    assert [abs(part.amount) for part in parts] == sorted((abs(part.amount) for part in parts), reverse=True)
    assert reasons(pause, 2) == tuple(f"{part.name}{part.amount:+.1f}" for part in parts[:2])


def test_a_complete_sentence_scores_higher_than_an_open_one() -> None:
    complete = probability(PauseFeatures(text="I would like to fly to Rome."))
    unfinished = probability(PauseFeatures(text="I would like to fly to the"))
    assert unfinished < complete


def test_without_any_feature_it_is_undecided() -> None:
    assert score(PauseFeatures()) is None
    assert probability(PauseFeatures()) == 0.5
    assert reasons(PauseFeatures()) == ()
