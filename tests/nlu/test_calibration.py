"""Calibrated scores are probabilities."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.nlu.calibration import MINILM, WORDS_WITHOUT_NUMPY, Scores


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8), st.floats(-1, 1), st.floats(0, 1))
def test_confidences_are_probabilities(each: list[float], near: float, usual: float) -> None:
    found = WORDS_WITHOUT_NUMPY.understanding([f"i{at}" for at in range(len(each))], Scores(each, near, usual), "words")
    confidences = [guess.confidence for guess in found.guesses]
    assert confidences == sorted(confidences, reverse=True)
    assert all(0 <= confidence <= 1 for confidence in confidences)
    assert sum(confidences) <= found.in_scope + 1e-9 <= 1 + 1e-9
    assert found.is_in_scope == (found.in_scope >= 0.5)


def test_a_higher_score_and_more_similarity_mean_more_confidence() -> None:
    low, high = (
        MINILM.understanding(["a", "b"], Scores([score, 0.0], near, 0.5), "x")
        for score, near in ((0.1, 0.2), (3.0, 0.8))
    )
    assert high.in_scope > low.in_scope
    assert high.confidence > low.confidence
    assert high.guesses[0].intent == "a"
