"""Measure how much the local NLU's accuracy depends on chance: `python tools/redraw_nlu.py FILE.json… --draws 10`.

Pools a file's examples and test messages. Each draw trains on as many random examples per intent as the file
had and tests on the rest. Prints the mean, minimum and maximum accuracy. Rule: this only measures the spread of
a result; because it uses the test messages, no setting is chosen by it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from duologue.nlu.blas_threads import one_core
from duologue.nlu.e5 import shared_e5
from duologue.nlu.embeddings import Embeddings, Views
from duologue.nlu.minilm import shared_minilm
from duologue.nlu.numpy_classifier import DeepScope
from duologue.nlu.understanding import Intent

Pool = dict[str, list[str]]


class CachedEmbeddings(Embeddings):
    """Embeddings that also cache messages, because the same messages are tested many times here."""

    def of_message(self, text: str) -> Views:
        return {view: rows[0] for view, rows in self.of_phrases([text]).items()}


def read(path: Path) -> tuple[Pool, int]:
    """All messages by intent, and how many of each are training data."""
    data = json.loads(path.read_text(encoding="utf-8"))
    pool: Pool = defaultdict(list)
    for name, phrases in data["examples"].items():
        pool[name] += phrases
    for message, name in data["test"]:
        pool[name].append(message)
    return pool, max(map(len, data["examples"].values()))


def accuracy(pool: Pool, learned: int, embeddings: Embeddings, dice: np.random.Generator) -> float:
    """The accuracy in one draw."""
    phrases, tested = [], []
    for at, (name, texts) in enumerate(pool.items()):
        order = [texts[place] for place in dice.permutation(len(texts))]
        phrases.append(Intent(name, tuple(order[:learned])).phrases)
        tested += [(text, at) for text in order[learned:]]
    scope = DeepScope(phrases, embeddings)
    return statistics.fmean(scope.scores(text).best == wanted for text, wanted in tested)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="JSON files with `examples` and `test`")
    parser.add_argument("--draws", type=int, default=10, help="how many times to draw")
    given = parser.parse_args()
    embeddings = CachedEmbeddings(shared_minilm(), shared_e5())
    for path in given.files:
        pool, learned = read(path)
        with one_core():
            dice = [np.random.default_rng(seed) for seed in range(given.draws)]
            found = [100 * accuracy(pool, learned, embeddings, each) for each in dice]
        middle, spread = statistics.fmean(found), statistics.pstdev(found)
        sys.stdout.write(f"{path.stem}: {middle:.2f} % ± {spread:.2f}, {min(found):.2f} to {max(found):.2f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
