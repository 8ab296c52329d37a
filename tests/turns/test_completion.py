"""How complete a turn sounds: scores by what is known of a pause."""

from __future__ import annotations

from dataclasses import replace

from duologue.turns.completion import table_of
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
