"""A piece of a reply that a grammar has understood: the tokens, and the values that they may mean."""

from __future__ import annotations

from typing import NamedTuple

from .readings import Json

DOUBTED = "doubted"  # the `unit` of a match that the agent has to ask about, even if it has only one candidate


class Match(NamedTuple):
    """The tokens from index `first` up to but not including `after`, and the values that they may mean."""

    first: int
    after: int
    candidates: tuple[Json, ...]
    unit: str = ""  # the stem of what is counted, if it was said


class Span(NamedTuple):
    """The tokens from index `first` up to but not including `after`."""

    first: int
    after: int


def overlaps(one: Match | Span, other: Match | Span) -> bool:
    """Do the two have a token in common?"""
    return one.first < other.after and other.first < one.after
