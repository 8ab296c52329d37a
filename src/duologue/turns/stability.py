"""Measures how stable the words of a partial transcript are.

A word's stability is the share of the last partials that had it at the same place. Rule: only a new partial changes
the score. Partials arrive about every 100 ms, independently of audio frames.
"""

from __future__ import annotations

from dataclasses import dataclass

from .words import words_of

PARTIALS = 3  # earlier partials that a word is compared with


@dataclass(frozen=True, slots=True)
class Stability:
    """The last partials, newest last, and the score of the newest. At 0 all its words are new, at 1 all are stable."""

    score: float = 0.0
    partials: tuple[tuple[str, ...], ...] = ()

    def heard(self, text: str, is_final: bool = False) -> Stability:
        """The new stability after another partial. With `is_final`, the text is final, and its words count as
        stable."""
        words = tuple(words_of(text))
        recent = (*self.partials, words)[-PARTIALS - 1 :]
        return Stability(1.0 if is_final and words else score_of(words, recent[:-1]), recent)


def score_of(words: tuple[str, ...], before: tuple[tuple[str, ...], ...]) -> float:
    """The mean stability of the words: for each word, the share of earlier partials that have it at the same place."""
    if not words or not before:
        return 0.0
    agreed = sum(place < len(old) and old[place] == word for place, word in enumerate(words) for old in before)
    return agreed / (len(words) * len(before))
