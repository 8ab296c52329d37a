"""Compares what a person typed with what the store saved: which messages are missing, and which words were saved too
often.

The typed and the saved words are compared one by one and in order. Counting them would not be enough: if one "yes" is
missing and another is saved twice, the number of words is right. The functions are pure. Rule: a message counts as
saved only if all of its words are saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .person_notes import TypedTurn


@dataclass(frozen=True, slots=True)
class Compared:
    """The result. `missing` has the indices of the typed messages that aren't saved. `unexpected` has the saved words
    that match no typed word at their position."""

    missing: tuple[int, ...]
    unexpected: tuple[str, ...]


def compare(turns: Sequence[TypedTurn], may_miss: Sequence[bool], saved: Sequence[str]) -> Compared:
    """Compare the typed messages of a conversation with its saved texts. `may_miss` says for each message whether it
    may be missing, because its person was told that it isn't saved. If a saved word fits two messages, it is assigned
    to the message that must not be missing."""
    typed = [(at, word) for at, turn in enumerate(turns) for word in turn.text.split()]
    found = " ".join(saved).split()
    weights = [1 if may_miss[at] else 2 for at, _ in typed]
    best = _best([word for _, word in typed], weights, found)
    at_typed = at_found = 0
    missing: dict[int, None] = {}
    unexpected: list[str] = []
    while at_typed < len(typed) or at_found < len(found):
        here = best[at_typed][at_found]
        if (
            at_typed < len(typed)
            and at_found < len(found)
            and typed[at_typed][1] == found[at_found]
            and here == best[at_typed + 1][at_found + 1] + weights[at_typed]
        ):
            at_typed, at_found = at_typed + 1, at_found + 1
        elif at_found < len(found) and here == best[at_typed][at_found + 1]:
            unexpected.append(found[at_found])
            at_found += 1
        else:
            missing[typed[at_typed][0]] = None
            at_typed += 1
    return Compared(tuple(missing), tuple(unexpected))


def _best(typed: Sequence[str], weights: Sequence[int], found: Sequence[str]) -> list[list[int]]:
    """A table for finding the best match of two lists of words in order. The entry `[i][j]` is the largest total weight
    of the words that can be matched in `typed[i:]` and `found[j:]`."""
    best = [[0] * (len(found) + 1) for _ in range(len(typed) + 1)]
    for one in range(len(typed) - 1, -1, -1):
        for other in range(len(found) - 1, -1, -1):
            both = best[one + 1][other + 1] + weights[one] if typed[one] == found[other] else 0
            best[one][other] = max(both, best[one + 1][other], best[one][other + 1])
    return best
