"""How settled are the words of a partial transcript? (T-07)

A word counts by how many of the last partials had it at the same place. Rule: partials come on a clock of their
own, about every 100 ms; a frame without a new one changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from .words import words_of

PARTIALS = 3  # how many earlier ones a word is looked for in


@dataclass(frozen=True, slots=True)
class Stability:
    """The last partials, newest last, and the score of the newest: 0 all new, 1 all settled."""

    score: float = 0.0
    partials: tuple[tuple[str, ...], ...] = ()

    def heard(self, text: str, is_final: bool = False) -> Stability:
        """After another partial, or after the final text, which is settled by definition."""
        words = tuple(words_of(text))
        kept = (*self.partials, words)[-PARTIALS - 1 :]
        return Stability(1.0 if is_final and words else score_of(words, kept[:-1]), kept)


def score_of(words: tuple[str, ...], before: tuple[tuple[str, ...], ...]) -> float:
    """The mean over the words of the share of earlier partials that agree with them."""
    if not words or not before:
        return 0.0
    agreed = sum(place < len(old) and old[place] == word for place, word in enumerate(words) for old in before)
    return agreed / (len(words) * len(before))
