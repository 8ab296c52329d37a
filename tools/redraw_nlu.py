"""How much the local NLU's marks hang on luck: `python tools/redraw_nlu.py FILE.json… --draws 10`.

Puts a file's examples and test messages together, draws as many examples for each intent as it had, learns them
and judges the rest, again and again. Prints mean, least and most of what is right. Rule: this tells how stable a
result is; since it sees the test messages, nothing is chosen by it alone.
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
from duologue.nlu.embeddings import Embeddings, Seen
from duologue.nlu.minilm import shared_minilm
from duologue.nlu.numpy_classifier import DeepScope
from duologue.nlu.understanding import Intent

Pool = dict[str, list[str]]


class Kept(Embeddings):
    """Messages come again and again here."""

    def of_message(self, text: str) -> Seen:
        return {view: rows[0] for view, rows in self.of_phrases([text]).items()}


def read(path: Path) -> tuple[Pool, int]:
    """Every message by its intent, and how many of each are taught."""
    data = json.loads(path.read_text(encoding="utf-8"))
    pool: Pool = defaultdict(list)
    for name, phrases in data["examples"].items():
        pool[name] += phrases
    for message, name in data["test"]:
        pool[name].append(message)
    return pool, max(map(len, data["examples"].values()))


def right(pool: Pool, taught: int, embeddings: Embeddings, dice: np.random.Generator) -> float:
    """The share that is right in one draw."""
    phrases, asked = [], []
    for at, (name, texts) in enumerate(pool.items()):
        order = [texts[place] for place in dice.permutation(len(texts))]
        phrases.append(Intent(name, tuple(order[:taught])).phrases)
        asked += [(text, at) for text in order[taught:]]
    scope = DeepScope(phrases, embeddings)
    return statistics.fmean(scope.scores(text).best == wanted for text, wanted in asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--draws", type=int, default=10)
    given = parser.parse_args()
    embeddings = Kept(shared_minilm(), shared_e5())
    for path in given.files:
        pool, taught = read(path)
        with one_core():
            found = [100 * right(pool, taught, embeddings, np.random.default_rng(seed)) for seed in range(given.draws)]
        middle, spread = statistics.fmean(found), statistics.pstdev(found)
        sys.stdout.write(f"{path.stem}: {middle:.2f} % ± {spread:.2f}, {min(found):.2f} to {max(found):.2f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
