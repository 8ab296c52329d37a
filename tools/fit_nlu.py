"""Fit the confidence of the local NLU, and cross-validate it: `python tools/fit_nlu.py FILE.json…`.

A file has `examples` (phrases by intent); its test messages aren't used. Scopes of all sizes are drawn from
the examples: some phrases of some intents are training data, the other phrases of these intents are in
scope, and the phrases of all other intents are out of scope. Prints the numbers for
src/duologue/nlu/calibration.py and the tables for docs/nlu.md. Rule: no phrase is tested by a model that was
trained on it.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from duologue.lab.bench.nlu import auroc
from duologue.nlu.blas_threads import one_core
from duologue.nlu.calibration import Scores
from duologue.nlu.e5 import shared_e5
from duologue.nlu.embeddings import Embeddings, Views
from duologue.nlu.minilm import shared_minilm
from duologue.nlu.numpy_classifier import WEIGHTS, DeepScope, WordScope
from duologue.nlu.stdlib_classifier import PlainScope
from duologue.nlu.understanding import Intent

SIZES = (1, 2, 3, 5, 8, 12, 20, 40, 60, 120)
LEARNED = (3, 5, 8)  # phrases of each intent
FOLDS, ROUNDS = 5, 4
SMALL = 20
JUDGED_MAX = 120  # tested messages of each kind in a scope

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """One tested message: its scores, and the index of its intent; None if it is out of scope."""

    scores: Scores
    wanted: int | None

    def terms(self) -> list[float]:
        size, best = math.log(len(self.scores.each)), self.scores.each[self.scores.best]
        return [1.0, size, best, self.scores.near, self.scores.near * size, self.scores.usual]


class CachedEmbeddings(Embeddings):
    """Embeddings that also cache messages, because the same messages are tested many times here."""

    def of_message(self, text: str) -> Views:
        return {view: rows[0] for view, rows in self.of_phrases([text]).items()}


Draw = tuple[list[Intent], int]
Make = Callable[[list[tuple[str, ...]]], DeepScope | WordScope | PlainScope]


def read(path: Path) -> list[Intent]:
    examples = json.loads(path.read_text(encoding="utf-8"))["examples"]
    return [Intent(name, tuple(phrases)) for name, phrases in examples.items()]


# -- Drawing scopes


def draws(intents: list[Intent], dice: np.random.Generator, times: int, size_max: int) -> Iterator[Draw]:
    """Random scopes: the intents, and how many phrases of each are training data."""
    for size in SIZES:
        if size < len(intents) and size <= size_max:
            for time in range(times if size <= SMALL else len(LEARNED)):
                chosen = dice.permutation(len(intents))[:size]
                yield [intents[at] for at in chosen], LEARNED[time % len(LEARNED)]


def judge_scope(
    make: Make, scope: list[Intent], learned: int, others: list[str], dice: np.random.Generator
) -> list[Judged]:
    training, tested = [], []
    for at, intent in enumerate(scope):
        order = dice.permutation(len(intent.examples))
        phrases = [intent.examples[place] for place in order]
        training.append(Intent(intent.name, tuple(phrases[:learned])).phrases)
        tested += [(text, at) for text in phrases[max(LEARNED) :]]
    model = make(training)
    inside = [tested[at] for at in dice.permutation(len(tested))[:JUDGED_MAX]]
    outside = [others[at] for at in dice.permutation(len(others))[: max(20, len(inside))]]
    found = [Judged(model.scores(text), wanted) for text, wanted in inside]
    return found + [Judged(model.scores(text), None) for text in outside]


def judge_all(make: Make, sets: list[list[Intent]], seed: int, times: int, size_max: int) -> list[list[Judged]]:
    """The tested messages of random scopes of every set. Out-of-scope messages come from the same set."""
    dice = np.random.default_rng(seed)
    found = []
    for intents in sets:
        for scope, learned in draws(intents, dice, times, size_max):
            names = {intent.name for intent in scope}
            others = [text for intent in intents if intent.name not in names for text in intent.examples]
            found.append(judge_scope(make, scope, learned, others, dice))
    return found


# -- Fitting


def fit_in_scope(scopes: list[list[Judged]]) -> Floats:
    """Weights of a logistic model, by Newton's method. In-scope and out-of-scope messages have the same weight
    in total, and so have the sizes of scopes."""
    rows = np.array([one.terms() for scope in scopes for one in scope])
    labels = np.array([one.wanted is not None for scope in scopes for one in scope], float)
    sizes = Counter(len(scope[0].scores.each) for scope in scopes)
    shares = np.concatenate([10 * _shares(scope) / sizes[len(scope[0].scores.each)] for scope in scopes])
    weights = np.zeros(rows.shape[1])
    pull = 1e-3 * np.eye(rows.shape[1])
    for _ in range(50):
        odds = 1 / (1 + np.exp(-np.clip(rows @ weights, -50, 50)))
        slope = rows.T @ (shares * (odds - labels)) + pull @ weights
        bend = rows.T @ (rows * (shares * odds * (1 - odds))[:, None]) + pull
        weights -= np.linalg.solve(bend, slope)
    return weights


def _shares(scope: list[Judged]) -> Floats:
    inside = np.array([one.wanted is not None for one in scope])
    return np.where(inside, 0.5 / max(1, inside.sum()), 0.5 / max(1, (~inside).sum()))


def fit_temperature(scopes: list[list[Judged]]) -> float:
    """The temperature by which scores are divided, so that their softmax matches how often they are right."""

    def surprise(temperature: float) -> float:
        total = 0.0
        for one in (one for scope in scopes for one in scope if one.wanted is not None and len(one.scores.each) > 1):
            each = np.array(one.scores.each) / temperature
            total += float(np.logaddexp.reduce(each) - each[one.wanted])
        return total

    return min((round(0.3 + 0.05 * step, 2) for step in range(60)), key=surprise)


def in_scope(weights: Floats, scope: list[Judged]) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(np.array([one.terms() for one in scope]) @ weights, -50, 50))))


# -- Output


def write_results(name: str, weights: Floats, temperature: float, scopes: list[list[Judged]]) -> None:
    start, size, score, near, near_size, usual = (round(float(each), 3) for each in weights)
    write(f"\n{name}: Calibration({start=}, {size=}, {score=}, {near=}, {near_size=}, {usual=}, {temperature=})")
    write("| intents | right | accepted | rejected | AUROC |\n|---|---|---|---|---|")
    for number in SIZES:
        chosen = [scope for scope in scopes if len(scope[0].scores.each) == number]
        if chosen:
            write(f"| {number} | " + " | ".join(f"{100 * each:.1f}" for each in _row(weights, chosen)) + " |")


def _row(weights: Floats, scopes: list[list[Judged]]) -> tuple[float, float, float, float]:
    """Of in-scope messages, the share whose intent is right and the share accepted; of out-of-scope messages,
    the share rejected; and the AUROC between the two."""
    right, accepted, rejected, aurocs = [], [], [], []
    for scope in scopes:
        odds = in_scope(weights, scope)
        inside = np.array([one.wanted is not None for one in scope])
        right += [one.scores.best == one.wanted for one in scope if one.wanted is not None]
        accepted += list(odds[inside] >= 0.5)
        rejected += list(odds[~inside] < 0.5)
        aurocs.append(auroc(odds[inside].tolist(), odds[~inside].tolist()) or 0.0)
    return float(np.mean(right)), float(np.mean(accepted)), float(np.mean(rejected)), float(np.mean(aurocs))


def accuracy(make: Make, intents: list[Intent]) -> float:
    """The cross-validated accuracy: each fifth of the phrases is tested by a model of the other four, in rounds."""
    dice = np.random.default_rng(3)
    right = total = 0
    for _ in range(ROUNDS):
        mixed = [[intent.examples[at] for at in dice.permutation(len(intent.examples))] for intent in intents]
        for fold in range(FOLDS):
            model = make([_but(intent, texts, fold) for intent, texts in zip(intents, mixed, strict=True)])
            for wanted, texts in enumerate(mixed):
                right += sum(model.scores(text).best == wanted for text in texts[fold::FOLDS])
                total += len(texts[fold::FOLDS])
    return right / total


def _but(intent: Intent, texts: list[str], fold: int) -> tuple[str, ...]:
    """The phrases of an intent without those of a fold."""
    return Intent(intent.name, tuple(text for at, text in enumerate(texts) if at % FOLDS != fold)).phrases


def write_parts(make: Make, sets: list[list[Intent]]) -> None:
    """Write what each view of a message adds to the accuracy, cross-validated."""
    alone = dict.fromkeys(WEIGHTS, 0.0) | {"meaning": WEIGHTS["meaning"]}
    parts = {"meaning": alone} | {
        f"meaning, {part}": alone | {part: WEIGHTS[part]} for part in WEIGHTS if part != "meaning"
    }
    for name, weights in (parts | {"all": dict(WEIGHTS)}).items():
        WEIGHTS.update(weights)
        found = ", ".join(f"{100 * accuracy(make, intents):.2f}" for intents in sets)
        write(f"{name}: {found} % by cross-validation")


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="JSON files with `examples`")
    parser.add_argument("--times", type=int, default=12, help="how many scopes of each small size to draw")
    given = parser.parse_args()
    sets = [read(path) for path in given.files]
    alone, both = CachedEmbeddings(shared_minilm()), CachedEmbeddings(shared_minilm(), shared_e5())
    kinds: dict[str, Make] = {
        "MINILM_AND_E5": lambda phrases: DeepScope(phrases, both),
        "MINILM": lambda phrases: DeepScope(phrases, alone),
        "WORDS": WordScope,
        "WORDS_WITHOUT_NUMPY": PlainScope,
    }
    for name, make in kinds.items():
        size_max = SMALL if make is PlainScope else max(SIZES)  # without numpy the rest would take an hour
        with one_core():
            if name == "MINILM_AND_E5":
                write_parts(make, sets)
            elif name == "WORDS":
                write(", ".join(f"{100 * accuracy(make, each):.2f}" for each in sets) + " % by cross-validation")
            fitted = judge_all(make, sets, 1, given.times, size_max)
            checked = judge_all(make, sets, 2, given.times, size_max)
        write_results(name, fit_in_scope(fitted), fit_temperature(fitted), checked)


if __name__ == "__main__":
    main()
