"""Reads the reply to a question that is answered with yes or no.

Rule: every word has to be part of the yes or the no. The wording of the question decides whether a plain yes is clear:
after "do you mind?" it isn't.
"""

from __future__ import annotations

from ..language.match import Match
from ..language.readings import Reading, Why
from .carrier_words import ASSENT
from .commands import postpones
from .explained_words import unclear
from .indirect_answers import where_declining
from .questions import asks
from .reply_context import ReplyContext
from .tokens import stem, stems_of, tokens_of, words_of
from .yes_no import (
    Polarity,
    Trick,
    asks_about_past,
    asks_for_a_need,
    asks_for_more,
    does_not_mind,
    is_about_future,
    is_bare_yes_no,
    is_not_now,
    polarity,
    trick_of,
    where_nothing_more,
    wishes,
)

_OFFERING = frozenset("would like want need require shall should interested fancy".split())
_WAITING = frozenset("wait later delay without".split())


def read_yes_no(c: ReplyContext) -> Reading:
    if asks(c.tokens):
        return unclear(Why.QUESTION)
    if postpones(c.tokens) or is_not_now(c.tokens):
        return c.as_reading(Match(0, len(c.tokens), (False,)))  # "not yet"
    enough = where_nothing_more(c.tokens) if asks_for_more(c.question.text) else None
    left = [place for place in c.places_outside_yes_no() if enough is None or place not in enough]
    if _declines(c, left):
        return c.as_reading(Match(0, len(c.tokens), (False,)))
    if enough is not None and not left:
        return c.as_reading(Match(0, len(c.tokens), (False,)))
    if left:
        return unclear(Why.LEFTOVER, c.tokens, left)
    leaning = polarity(c.tokens)
    if asks_for_a_need(c.question.text) and does_not_mind(c.tokens):
        return unclear(Why.NO_VALUE)
    if leaning is None and wishes(c.tokens):
        leaning = Polarity.YES
    if leaning not in (Polarity.YES, Polarity.NO) or _is_tricked(c):
        return unclear(Why.NO_VALUE)
    return c.as_reading(Match(0, len(c.tokens), (leaning is Polarity.YES,)))


def _declines(c: ReplyContext, left: list[int]) -> bool:
    """Does the reply decline what the question offers, as in "no rush" or "we'll bring our own"? False if the question
    offers nothing, or asks whether something can wait."""
    declining = where_declining(words_of(c.tokens))
    if not declining or not set(left) <= declining or trick_of(c.question.text) is not None:
        return False
    if any(token.word in ASSENT for place, token in enumerate(c.tokens) if place not in declining):
        return False
    asked = words_of(tokens_of(c.question.text))
    is_offer = asks_for_a_need(c.question.text) or any(word in _OFFERING for word in asked)
    return is_offer and not any(word in _WAITING for word in asked)


def _is_tricked(c: ReplyContext) -> bool:
    """Could this reply mean either yes or no, because of the wording of the question?"""
    trick = trick_of(c.question.text)
    if asks_about_past(c.question.text) and is_about_future(c.tokens):
        return True
    if trick is Trick.DENIES:
        named = stems_of(c.slot.name)
        return not any(stem(token.word) in named for token in c.tokens)
    return trick is Trick.MINDS and is_bare_yes_no(c.tokens)


def has_nothing_to_add(c: ReplyContext) -> bool:
    """Does the user have nothing to add? True for "nothing else, thanks"."""
    enough = where_nothing_more(c.tokens)
    return enough is not None and all(place in enough for place in c.places_outside_yes_no())
