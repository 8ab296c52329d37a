"""How stable the words of partial transcripts are."""

from __future__ import annotations

import pytest

from duologue.turns.stability import Stability


def after(*texts: str) -> float:
    found = Stability()
    for text in texts:
        found = found.heard(text)
    return found.score


@pytest.mark.req("T-07")
def test_a_first_partial_is_not_settled() -> None:
    assert after("I want") == 0.0


@pytest.mark.req("T-07")
def test_words_settle_as_partials_repeat_them() -> None:
    assert after("I want", "I want") == 1.0
    assert after("I won", "I want") == 0.5
    assert 0 < after("I won", "I want", "I want a") < after("I want", "I want", "I want a") < 1


@pytest.mark.req("T-07")
def test_new_words_lower_the_score_by_their_share() -> None:
    assert after("I want a", "I want a", "I want a", "I want a coffee") == 0.75


@pytest.mark.req("T-07")
def test_punctuation_and_case_dont_unsettle() -> None:
    assert after("i want a coffee", "I want a coffee.") == 1.0


@pytest.mark.req("T-07")
def test_a_final_text_is_settled() -> None:
    assert Stability().heard("yes", is_final=True).score == 1.0
    assert Stability().heard("", is_final=True).score == 0.0


def test_it_remembers_a_few_partials_only() -> None:
    found = Stability()
    for count in range(100):
        found = found.heard(f"word {count}")
    assert len(found.partials) <= 4
