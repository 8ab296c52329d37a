"""Known names, such as cities, people or titles, and words that are almost a known name.

A name is found if its words are the same, or if most of its letters are the same. Rule: a similar name is accepted
without asking only if it has few errors for its length and no other name is about as similar. Otherwise all similar
names are returned, so that the agent can ask which one is meant.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..language.match import Match
from .tokens import Token, tokens_of

NEAR_CHARS_MIN = 4
NEAR_SCORE_MIN = 0.75  # one mistake in four letters; a text with more mistakes is another name
NEAR_MARGIN = 0.1  # the best name must be ahead of the next by this score
SURE_SCORE_MIN = 0.85  # one mistake in seven letters
SURE_SCORE_MIN_CLOSED = 0.8  # one mistake in five letters, in a closed list
NEAR_CHARS_MAX = 60
_NEAR_TRIED = 8
_ARTICLES = ("the", "a", "an")
_JOINTS = ("-", "/")

Key = tuple[str, ...]


def key_of(text: str) -> Key:
    """The words of a name in the form in which names are compared. A leading article is left out."""
    words = tuple("and" if token.word == "&" else token.word for token in tokens_of(text) if token.word not in _JOINTS)
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NameList:
    """An index of names. Build it with `NameList.of`."""

    values: Mapping[Key, str]
    lengths: Mapping[str, tuple[int, ...]]  # for each first word: the lengths of its keys in words, longest first
    grams: Mapping[str, tuple[int, ...]]  # for each two letters in a row: the indexes in `joined` that have them
    joined: tuple[tuple[str, str], ...]  # keys as one text, and their values

    @staticmethod
    def of(names: Iterable[str], aliases: Mapping[str, str] | None = None, *, finds_near: bool = True) -> NameList:
        """Builds the index from names, and from aliases with the name that each alias stands for. With
        `finds_near=False`, only exact names are found; use this for a list that mixes different kinds of names."""
        values: dict[Key, str] = {}
        for name in names:
            values.setdefault(key_of(name), name)
        for alias, name in (aliases or {}).items():
            values.setdefault(key_of(alias), values.get(key_of(name), name))
        values.pop((), None)
        lengths: defaultdict[str, set[int]] = defaultdict(set)
        for key in values:
            lengths[key[0]].add(len(key))
        joined = tuple((" ".join(key), value) for key, value in values.items())
        grams: defaultdict[str, list[int]] = defaultdict(list)
        for number, (text, _) in enumerate(joined if finds_near else ()):
            for gram in _grams(text):
                grams[gram].append(number)
        return NameList(
            values,
            {word: tuple(sorted(found, reverse=True)) for word, found in lengths.items()},
            {gram: tuple(found) for gram, found in grams.items()},
            joined,
        )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"NameList({len(self)} names)"

    def find(self, tokens: Sequence[Token]) -> Iterator[Match]:
        """Every name in a reply. If several names begin at the same word, the longest is used."""
        words = ["and" if token.word == "&" else token.word for token in tokens]
        place = 0
        while place < len(words):
            found = self._at(words, place)
            if found is None:
                place += 1
                continue
            value, after = found
            yield Match(place, after, (value,))
            place = after

    def _at(self, words: list[str], place: int) -> tuple[str, int] | None:
        begun = place + (words[place] in _ARTICLES and place + 1 < len(words))
        for start in dict.fromkeys((place, begun)):
            first = words[start].removesuffix("'s")
            for length in self.lengths.get(words[start], ()) or self.lengths.get(first, ()):
                key = (*words[start : start + length],)
                if len(key) < length:
                    continue
                last = key[-1].removesuffix("'s")
                value = self.values.get(key) or self.values.get((*key[:-1], last))
                if value is not None:
                    return value, start + length
        return None

    def near(self, words: Sequence[str]) -> tuple[str, ...]:
        """The names most similar to these words: the best one first, then those that are about as similar. Empty if no
        name is similar."""
        ranked = self._ranked(" ".join(words))
        return tuple(value for value, score in ranked if ranked[0][1] - score < NEAR_MARGIN)

    def parts(self, words: Sequence[str]) -> tuple[str, ...]:
        """The names that contain these words in the same order: "Alan Turing" for "Turing"."""
        wanted, size = tuple(words), len(words)
        if len(" ".join(words)) < NEAR_CHARS_MIN:
            return ()
        found = (
            value
            for key, value in self.values.items()
            if any(key[place : place + size] == wanted for place in range(len(key) - size + 1))
        )
        return tuple(dict.fromkeys(found))

    def is_sure(self, words: Sequence[str], *, is_open: bool) -> bool:
        """Is the most similar name so similar that it must be the one that was meant? With `is_open`, the user may also
        mean a name that isn't on the list, so fewer errors are allowed."""
        ranked = self._ranked(" ".join(words))
        return bool(ranked) and ranked[0][1] >= (SURE_SCORE_MIN if is_open else SURE_SCORE_MIN_CLOSED)

    def _ranked(self, text: str) -> list[tuple[str, float]]:
        """The names that are similar to this text, each with a score from 0 to 1. The most similar name comes first."""
        if not NEAR_CHARS_MIN <= len(text) <= NEAR_CHARS_MAX:
            return []
        shared: Counter[int] = Counter()
        for gram in _grams(text):
            shared.update(self.grams.get(gram, ()))
        scores: dict[str, float] = {}
        for number, _ in shared.most_common(_NEAR_TRIED):
            other, value = self.joined[number]
            if abs(len(other) - len(text)) <= len(text) // 4:
                score = 1 - edits(text, other) / max(len(text), len(other))
                scores[value] = max(score, scores.get(value, 0.0))
        found = [(value, score) for value, score in scores.items() if score >= NEAR_SCORE_MIN]
        return sorted(found, key=lambda entry: -entry[1])


def _grams(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[place : place + 2] for place in range(len(padded) - 1)}


def edits(one: str, other: str) -> int:
    """How many edits turn one text into the other. An edit changes, removes or adds a letter, or swaps two letters."""
    if abs(len(one) - len(other)) > 12:
        return max(len(one), len(other))
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, mine in enumerate(one, start=1):
        last, before, row = before, row, [i]
        for j, its in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (mine != its))
            if i > 1 and j > 1 and mine == other[j - 2] and one[i - 2] == its:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
