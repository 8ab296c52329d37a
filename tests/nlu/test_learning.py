"""Grams and regressions: what is learned of a scope."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.nlu.calibration import PLAIN, Scores
from duologue.nlu.ngrams import SIZE, Grams, grams
from duologue.nlu.stdlib_classifier import PlainScope, fit_plain, scores_of, softmax

np = pytest.importorskip("numpy")

from duologue.nlu.logistic import fit  # noqa: E402
from duologue.nlu.numpy_classifier import WordScope, view_of  # noqa: E402 (only with numpy)
from duologue.nlu.sparse import SparseRows  # noqa: E402

PHRASES = [
    ("book a table", "reserve a table for two", "I need a table tonight"),
    ("cancel my booking", "call off the reservation", "I can't come tonight"),
    ("what is on the menu", "do you have soup", "which dishes are there"),
]
ASKED = [("a table for six", 0), ("please cancel the reservation", 1), ("which soup is on the menu", 2)]

# -- Grams


def test_grams_are_words_pairs_and_pieces() -> None:
    words, pieces = grams("Book it?")
    assert words == ["book", "it", "?", "book it", "it ?"]
    assert pieces == ["#_bo", "#boo", "#ook", "#ok_", "#_boo", "#book", "#ook_", "#_it", "#it_", "#_it_", "#_?_"]


@given(st.text(max_size=300))
def test_no_vector_is_longer_than_one_but_for_a_collision(text: str) -> None:
    vector = Grams(text for each in PHRASES for text in each).vector(text)
    assert all(0 <= place < SIZE for place in vector)
    assert math.sqrt(sum(value * value for value in vector.values())) < 1.5


def test_a_known_phrase_has_length_one_and_unknown_words_shorten_it() -> None:
    known = Grams(text for each in PHRASES for text in each)

    def length(text: str) -> float:
        return math.sqrt(sum(value * value for value in known.vector(text).values()))

    assert length("book a table") == pytest.approx(1, abs=0.1)
    assert length("book a zeppelin over Ulaanbaatar") < 0.8
    assert length("xyzzy qwfp") == 0


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    known = Grams(["the soup", "the fish", "the bill", "the menu"])
    assert known._rarity["soup"] > known._rarity["the"]


def test_the_work_for_a_message_is_bounded() -> None:
    words, pieces = grams("word " * 100_000)
    assert len(words) < 500
    assert len(pieces) < 2_000


# -- Regressions


def test_weights_tell_the_classes_apart() -> None:
    dice = np.random.default_rng(1)
    rows = np.concatenate([dice.normal(0, 0.3, (20, 5)) + 2 * np.eye(5)[at] for at in range(4)]).astype(np.float32)
    labels = np.repeat(np.arange(4), 20)
    assert ((rows @ fit(rows, labels, 4)).argmax(axis=1) == labels).mean() > 0.95


def test_few_rows_give_the_same_weights_as_many_columns_would() -> None:
    dice = np.random.default_rng(2)
    rows = dice.normal(size=(12, 8)).astype(np.float32)
    labels = np.arange(12) % 3
    wide = np.concatenate([rows, np.zeros((12, 20), np.float32)], axis=1)
    assert fit(wide, labels, 3)[:8] == pytest.approx(fit(rows, labels, 3), abs=0.05)


def test_learning_twice_is_learning_the_same() -> None:
    dice = np.random.default_rng(3)
    rows, labels = dice.normal(size=(30, 9)).astype(np.float32), np.arange(30) % 5
    assert (fit(rows, labels, 5) == fit(rows, labels, 5)).all()


def test_an_intent_of_few_phrases_is_not_outvoted() -> None:
    lone = np.array([[0.0, 1.0]], np.float32)
    rows = np.concatenate([np.tile(np.array([[1.0, 0.1]], np.float32), (30, 1)), lone])
    labels = np.array([0] * 30 + [1])
    weights = fit(rows, labels, 2)
    assert (lone @ weights).argmax() == 1
    assert (np.array([0.5, 0.6], np.float32) @ weights).argmax() == 1


def test_a_single_class_and_a_single_row_can_be_learned() -> None:
    assert fit(np.ones((1, 3), np.float32), np.zeros(1, np.int64), 1).shape == (3, 1)


def test_the_plain_regression_learns_too() -> None:
    rows = [{0: 1.0}, {0: 0.9, 1: 0.1}, {1: 1.0}, {1: 0.8, 2: 0.2}, {2: 1.0}, {2: 0.9}]
    weights = fit_plain(rows, [0, 0, 1, 1, 2, 2], 3)
    assert [scores_of(row, weights, 3).index(max(scores_of(row, weights, 3))) for row in rows] == [0, 0, 1, 1, 2, 2]
    assert scores_of({77: 1.0}, weights, 3) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", [WordScope, PlainScope])
def test_scopes_are_learned_by_their_words(kind: type[WordScope] | type[PlainScope]) -> None:
    scope = kind(PHRASES)
    assert [scope.scores(text).best for text, _ in ASKED] == [wanted for _, wanted in ASKED]
    assert scope.scores("a table for six").near > scope.scores("the moon is far away").near


def test_both_ways_to_learn_words_agree_on_nearness() -> None:
    one, other = WordScope(PHRASES).scores("reserve a table"), PlainScope(PHRASES).scores("reserve a table")
    assert one.near == pytest.approx(other.near, abs=1e-4)
    assert one.usual == pytest.approx(other.usual, abs=1e-4)


# -- Nearness


def test_rows_without_their_zeros_give_the_same_products() -> None:
    dice = np.random.default_rng(4)
    rows = np.where(dice.random((6, 40)) < 0.1, dice.normal(size=(6, 40)), 0).astype(np.float32)
    rows[[2, 5]] = 0
    other = dice.normal(size=40).astype(np.float32)
    assert SparseRows(rows) @ other == pytest.approx(rows @ other, abs=1e-5)


def test_nearness_is_the_same_with_and_without_zeros() -> None:
    rows = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0], [0.2, 0.0], [0.1, 0.0]], np.float32)
    row, labels = np.array([1.0, 0.25], np.float32), np.array([0, 0, 1, 0, 0])
    for is_sparse in (False, True):
        view = view_of(rows, labels, 2, is_sparse=is_sparse)
        scores = view.told(view.scores(row), row)
        assert (scores.best, scores.near) == (0, pytest.approx(1.7 / 3)), "of the three nearest phrases"


# -- Certainty


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8), st.floats(-1, 1), st.floats(0, 1))
def test_probabilities_are_probabilities(each: list[float], near: float, usual: float) -> None:
    found = PLAIN.understanding([f"i{at}" for at in range(len(each))], Scores(each, near, usual), "words")
    confidences = [guess.confidence for guess in found.guesses]
    assert confidences == sorted(confidences, reverse=True)
    assert all(0 <= confidence <= 1 for confidence in confidences)
    assert sum(confidences) <= found.in_scope + 1e-9 <= 1 + 1e-9
    assert found.is_in_scope == (found.in_scope >= 0.5)


def test_shares_add_up_to_one() -> None:
    assert sum(softmax([1.0, 2.0, -700.0, 700.0])) == pytest.approx(1)
