"""TF-IDF vectors of words, pairs of words and character n-grams, without numpy.

N-grams are hashed to a sparse vector of fixed size and weighted by rarity. Rule: an n-gram that isn't in any phrase has
no entry in the vector of a message; it only makes the other entries smaller. So a message that consists of unknown
words isn't similar to any phrase.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from .understanding import shortened

SIZE = 8_192  # with 2,048, hash collisions cost up to one percentage point of accuracy
_WORD = re.compile(r"\w+(?:'\w+)?|[?]")
_LETTERS = (3, 4)
_WORDS_MAX = 200  # a longer message loses its middle, as in `shortened`

Sparse = dict[int, float]


class Grams:
    """The n-grams in the phrases of a scope (the intents that are possible at a turn), and how rare each n-gram is."""

    def __init__(self, phrases: Iterable[str]) -> None:
        counted = [_counted(phrase) for phrase in phrases]
        counts = Counter(gram for kinds in counted for kind in kinds for gram in kind)
        self._rarest = 1 + math.log(1 + len(counted))
        self._rarity = {gram: self._rarest - math.log(1 + count) for gram, count in counts.items()}
        self.rows = [self._vector(kinds) for kinds in counted]
        """The vectors of the phrases, in order."""

    def rarity(self, gram: str) -> float:
        """The weight of an n-gram. The fewer phrases contain the n-gram, the higher is its weight."""
        return self._rarity.get(gram, self._rarest)

    def vector(self, text: str) -> Sparse:
        """The vector of a text. Its Euclidean norm is at most 1. The more unknown n-grams the text contains, the
        smaller the norm is."""
        return self._vector(_counted(text))

    def _vector(self, kinds: Iterable[Counter[str]]) -> Sparse:
        found: Sparse = {}
        for kind in kinds:
            length = 0.0
            weighed = []
            for gram, times in kind.items():
                weight = self.rarity(gram) * (1 + math.log(times))
                length += weight * weight
                if gram in self._rarity:
                    weighed.append((gram, weight))
            length = math.sqrt(2 * length)
            for gram, weight in weighed:
                place, sign = _place(gram)
                found[place] = found.get(place, 0.0) + sign * weight / length
        return found


def _counted(text: str) -> tuple[Counter[str], Counter[str]]:
    words, pieces = grams(text)
    return Counter(words), Counter(pieces)


def grams(text: str) -> tuple[list[str], list[str]]:
    """Two lists. The first has the words and the pairs of neighbouring words; the second has the sequences of three and
    four characters within words."""
    words = _WORD.findall(shortened(text).lower())
    if len(words) > _WORDS_MAX:
        words = words[: _WORDS_MAX // 2] + words[-_WORDS_MAX // 2 :]
    pairs = [f"{first} {second}" for first, second in pairwise(words)]
    return words + pairs, [piece for word in words for piece in _pieces(f"_{word}_")]


def _pieces(word: str) -> Iterator[str]:
    for size in _LETTERS:
        yield from (f"#{word[at : at + size]}" for at in range(len(word) - size + 1))


@lru_cache(50_000)  # only n-grams of phrases: unknown ones aren't looked up
def _place(gram: str) -> tuple[int, int]:
    number = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
    return (number >> 1) % SIZE, 1 if number & 1 else -1
