"""Several matches in one reply that may mean the same value: "two, yes two people".

Rule: matches are merged only if one value fits all of them. Otherwise the reply gives several values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..language.match import Match
from .carrier_words import DETERMINERS, FILLERS, HEDGES, PREPOSITIONS
from .dates import SPAN_OF_DAYS
from .numbers import is_pronoun_one
from .tokens import Token, words_of

_BEFORE_WISHES = HEDGES | FILLERS | PREPOSITIONS | DETERMINERS | frozenset(("say", "if", "possible", "better"))


def merged(tokens: Sequence[Token], matches: Sequence[Match], *, is_count: bool) -> Match | None:
    """One match for several matches that can all mean the same value; None if they can't. A "one" that may be a pronoun
    is ignored if there are other matches."""
    counts = [match for match in matches if not is_pronoun_one(tokens, match.first)] or matches
    if is_count and any(words_of(tokens[one.after : other.first]) == ("oh",) for one, other in pairwise(matches)):
        return None  # "one oh one" isn't a count
    if is_count:
        begun = {match.first for match in counts}
        counts = [one for one in counts if one.unit or one.after in begun or not _is_lone_one(tokens, one)] or counts
    shared = [value for value in counts[0].candidates if all(value in match.candidates for match in counts[1:])]
    return counts[0]._replace(candidates=tuple(shared)) if shared else None


def narrowed(tokens: Sequence[Token], span: Match, wish: Match) -> Match | None:
    """One match for a span of days and, right after it, a preferred day in that span: "sometime next week, ideally
    Tuesday". None if the day isn't in the span, or if words other than "ideally" or the like stand between the two."""
    shared = tuple(value for value in wish.candidates if value in span.candidates)
    between = tokens[span.after : wish.first]
    if span.unit != SPAN_OF_DAYS or not shared or any(token.word not in _BEFORE_WISHES for token in between):
        return None
    return Match(span.first, wish.after, shared)


def _is_lone_one(tokens: Sequence[Token], match: Match) -> bool:
    return tokens[match.first].word == "one" and match.after - match.first == 1
