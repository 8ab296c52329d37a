"""Measures how stable the words of a partial transcript are, that is, how little they change while the user speaks.

A partial is a transcript of an unfinished turn. A word's stability is the share of the last partials that had the same
word at the same position. Rule: only a new partial changes the score. Partials arrive about every 100 ms, independently
of audio frames.
"""

from __future__ import annotations

from dataclasses import dataclass

from .words import words_of

PARTIALS = 3  # earlier partials that a word is compared with


@dataclass(frozen=True, slots=True)
class Stability:
    """The last partials, newest last, and the stability score of the newest one. The score is 0 if all words of that
    partial are new, and 1 if all of them are stable."""

    score: float = 0.0
    partials: tuple[tuple[str, ...], ...] = ()

    def heard(self, text: str, is_final: bool = False) -> Stability:
        """The stability after another partial with this text. If `is_final` is true, the text is final, and all its
        words are stable."""
        words = tuple(words_of(text))
        recent = (*self.partials, words)[-PARTIALS - 1 :]
        return Stability(1.0 if is_final and words else score_of(words, recent[:-1]), recent)


def score_of(words: tuple[str, ...], before: tuple[tuple[str, ...], ...]) -> float:
    """The mean stability of these words. The stability of a word is the share of the earlier partials that have it at
    the same position."""
    if not words or not before:
        return 0.0
    agreed = sum(place < len(old) and old[place] == word for place, word in enumerate(words) for old in before)
    return agreed / (len(words) * len(before))
