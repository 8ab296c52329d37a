"""Checks that every word of a reply is accounted for. Only then is the reply a plain answer.

A word is accounted for if it is part of the value, is a carrier word (a word that people put around an answer), or was
in the question. Rule: a reply goes to NLU if a word in it denies, changes or asks something.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..language.match import Match
from ..language.readings import Unclear, Why
from ..language.tokens import Token, words_of
from .lexicon import Lexicon, phrase_at, where_phrase
from .signs import is_value_word
from .yes_no import asks_by_words


def covered_by(matches: Iterable[Match]) -> frozenset[int]:
    """The indexes of all tokens that these matches cover."""
    return frozenset(place for match in matches for place in range(match.first, match.after))


def polite_places(lexicon: Lexicon, tokens: Sequence[Token]) -> frozenset[int]:
    """The indexes of the words in polite phrases such as "por favor" or "wenn es geht"."""
    words = words_of(tokens)
    found: set[int] = set()
    for place in range(len(words)):
        found |= set(range(place, place + phrase_at(words, place, lexicon.polite_phrases)))
    return frozenset(found)


def objection(lexicon: Lexicon, tokens: Sequence[Token], covered: frozenset[int]) -> Why | None:
    """Why a reply can't be a plain answer; None if no word denies, changes or asks something."""
    polite = polite_places(lexicon, tokens)
    if where_phrase(words_of(tokens), lexicon.undecided):
        return Why.MARKER
    for place, token in enumerate(tokens):
        if place in covered or place in polite:
            continue
        if token.word in lexicon.markers:
            return Why.MARKER
        is_opening_no = token.word in lexicon.dissent and not _is_after_content(lexicon, tokens, place)
        if is_opening_no and place + 1 < len(tokens) and tokens[place + 1].pause:
            continue  # "no, el viernes"
        if token.word in lexicon.negations or token.word in lexicon.dissent:
            return Why.NEGATED
    return Why.QUESTION if asks_by_words(lexicon, tokens) else None


def _is_after_content(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> bool:
    return any(token.word not in lexicon.polite | lexicon.fillers | lexicon.dissent for token in tokens[:place])


def leftover(lexicon: Lexicon, tokens: Sequence[Token], covered: frozenset[int], echo: frozenset[str]) -> list[int]:
    """The indexes of the words that aren't accounted for."""
    polite = polite_places(lexicon, tokens)
    return [
        place
        for place, token in enumerate(tokens)
        if place not in covered and place not in polite and not _is_explained(lexicon, token.word, echo)
    ]


def _is_explained(lexicon: Lexicon, word: str, echo: frozenset[str]) -> bool:
    if is_carrier(lexicon, word):
        return True
    return not is_value_word(lexicon, word) and (lexicon.stem(word) in echo or word in lexicon.dissent)


@lru_cache(maxsize=8192)
def is_carrier(lexicon: Lexicon, word: str) -> bool:
    """Is this a carrier word, that is, a word that may stand around a plain answer?"""
    exact = lexicon.carriers | lexicon.polite | lexicon.fillers | lexicon.assent
    return word in exact or lexicon.stem(word) in lexicon.carrier_stems


def unread(reply: str) -> Unclear:
    """The result for a reply that has no tokens, because it is empty or too long."""
    return Unclear(Why.LONG if any(char.isalnum() for char in reply) else Why.EMPTY)


def unclear(why: Why, tokens: Sequence[Token] = (), places: Iterable[int] = ()) -> Unclear:
    """The result for a reply that NLU has to read."""
    return Unclear(why, tuple(tokens[place].text for place in places))
