"""Divides a message into clauses, so that each clause can be read by itself: "seven, before work", "it's a company car,
the plate is LN 70".

A clause begins after a pause, or with a word such as "but", "because" or "so". In a reply without any pause, it also
begins where the language says so: "six people my brother's coming". Rule: the clauses follow each other
without a gap, so together they are the whole message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from .language.pack import LanguageWords
from .language.tokens import Token

CLAUSES_MAX = 8  # longer messages aren't read clause by clause


def clauses_of(words: LanguageWords, tokens: Sequence[Token], *, at_subjects: bool = True) -> list[range]:
    """The clauses of a message, each as a range of token indexes. A number such as "a hundred and twenty" isn't
    divided. With `at_subjects=False`, a message without pauses is divided only at joining words."""
    starts = [at for at in range(len(tokens)) if at == 0 or _begins(words, tokens, at, at_subjects)]
    return [range(start, stop) for start, stop in pairwise([*starts, len(tokens)])]


def _begins(words: LanguageWords, tokens: Sequence[Token], at: int, at_subjects: bool) -> bool:
    if tokens[at].pause:
        return True
    if at_subjects and words.begins_clause(tokens, at):
        return True
    if tokens[at].word not in words.joins or tokens[at - 1].word in words.joins | words.ors:
        return False  # "and so", "or so"
    after = tokens[at + 1].word if at + 1 < len(tokens) else ""
    starts = next((place for place in range(at, -1, -1) if place == 0 or tokens[place].pause), 0)
    if tokens[at].word in words.ands and any(token.word in words.between for token in tokens[starts:at]):
        return False  # "between nine and ten"
    is_inside_number = words.is_number(tokens[at - 1].word) and bool(after) and words.is_number(after)
    return not (tokens[at].word in words.ands and is_inside_number)


def runs_of(clauses: Sequence[range]) -> Iterator[range]:
    """The runs of neighbouring clauses that aren't the whole message, as ranges of clause indexes. The longest runs
    come first."""
    for size in range(len(clauses) - 1, 0, -1):
        for first in range(len(clauses) - size + 1):
            yield range(first, first + size)


def without_join(words: LanguageWords, tokens: Sequence[Token], clause: range) -> range:
    """The clause without words such as "but" and "so" at its beginning."""
    start = clause.start
    while start < clause.stop and tokens[start].word in words.joins | words.conclusions:
        start += 1
    return range(start, clause.stop)


def text_of(text: str, tokens: Sequence[Token], part: range) -> str:
    """The words of this part of the message, as the user said them."""
    return text[tokens[part.start].start : tokens[part.stop - 1].end] if part else ""
