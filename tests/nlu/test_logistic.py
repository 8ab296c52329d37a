"""The regression separates classes, gives small classes their weight, and is reproducible."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.nlu.logistic import fit


def test_weights_separate_the_classes() -> None:
    dice = np.random.default_rng(1)
    rows = np.concatenate([dice.normal(0, 0.3, (20, 5)) + 2 * np.eye(5)[at] for at in range(4)]).astype(np.float32)
    labels = np.repeat(np.arange(4), 20)
    assert ((rows @ fit(rows, labels, 4)).argmax(axis=1) == labels).mean() > 0.95


def test_fitting_with_few_rows_gives_the_same_weights() -> None:
    dice = np.random.default_rng(2)
    rows = dice.normal(size=(12, 8)).astype(np.float32)
    labels = np.arange(12) % 3
    wide = np.concatenate([rows, np.zeros((12, 20), np.float32)], axis=1)
    assert fit(wide, labels, 3)[:8] == pytest.approx(fit(rows, labels, 3), abs=0.05)


def test_fitting_twice_gives_the_same_weights() -> None:
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
