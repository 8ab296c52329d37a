"""Statements that end in a tag and so ask for agreement: "that includes the fuel, right", "you deliver, don't you".

Rule: there must be a statement before the tag. "Yes, that's right" and "you got it right" ask nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from .carrier_words import ASSENT, AUXILIARIES, FILLERS, POLITE, PRONOUNS, is_negation, without_contraction
from .questions import SPEAKERS
from .tokens import Token, words_of
from .yes_no import places_outside_yes_no

_TAGS = frozenset("right correct huh eh innit".split())
_LAST_TAGS = frozenset("yeah yes yep okay ok".split())  # at the end of the reply, without a pause before them
_ASSUMING = tuple(
    tuple(phrase.split()) for phrase in ("i assume", "i presume", "i take it", "i suppose", "i guess", "presumably")
)
_PRAISE = ("right", "correct")
_BEFORE_PRAISE = frozenset(
    """is are was be been that's it's they're all not quite sounds sound looks look seems seem so absolutely perfectly
    completely totally entirely exactly yes yeah yep name number""".split()
)
_MADE = frozenset("got get gets getting have has had spelled spelt put did said say read heard wrote".split())
_STATEMENT_WORDS_MIN = 2
_MADE_WORDS_MAX = 3  # "got the name right"
_BE_AND_MODALS = frozenset("is was will would can could should must does did has".split())
_DO = frozenset("do have are were am".split())
_REQUESTING = tuple((verb, "you") for verb in "would will could can won't".split())  # "do it, would you"
_ASKING = frozenset("what which when where who whose why how if whether".split())  # "how much is it"
_THIRD = frozenset("it he she that this there they you we i one".split())
_PLURAL = frozenset("you we they i there".split())


def is_tagged(tokens: Sequence[Token]) -> bool:
    """Does the reply say something and ask, with a tag such as "right" or "isn't it", whether it is so?"""
    if _assumes(tokens):
        return True
    return any(_is_tagged_until(tokens, stop) for stop in range(2, len(tokens) + 1) if _may_end(tokens, stop))


def _assumes(tokens: Sequence[Token]) -> bool:
    """Does the user say what they assume, so that they can be corrected: "I take it that's with breakfast"?"""
    words = words_of(tokens)
    after = [
        at + len(phrase) for phrase in _ASSUMING for at in range(len(words)) if words[at : at + len(phrase)] == phrase
    ]
    return any(places_outside_yes_no(tokens[at:]) for at in after if len(words) - at >= _STATEMENT_WORDS_MIN)


def _may_end(tokens: Sequence[Token], stop: int) -> bool:
    return stop == len(tokens) or bool(tokens[stop].pause) or tokens[stop].word in SPEAKERS


def _is_tagged_until(tokens: Sequence[Token], stop: int) -> bool:
    is_last = stop == len(tokens) and tokens[-1].word in _LAST_TAGS and not tokens[-1].pause
    size = 1 if is_last else _tag_size(words_of(tokens[:stop]))
    said = tokens[: stop - size] if size else ()
    if len(said) < _STATEMENT_WORDS_MIN or (size > 1 and any(token.word in _ASKING for token in said)):
        return False
    is_statement = size > 1 and words_of(tokens[stop - size : stop]) not in _REQUESTING
    known = POLITE | FILLERS | ASSENT | PRONOUNS | AUXILIARIES
    is_told = any(without_contraction(token.word) not in known for token in said)
    return bool(places_outside_yes_no(said)) or (is_statement and is_told)


def _tag_size(words: Sequence[str]) -> int:
    """The number of words of the tag at the end of these words; 0 if they end without a tag."""
    if words[-1] in _TAGS:
        near = words[-1 - _MADE_WORDS_MAX : -1]
        is_praise = words[-1] in _PRAISE and (near[-1] in _BEFORE_PRAISE or any(word in _MADE for word in near))
        return 0 if is_praise else 1
    verb, subject = words[-2], words[-1]
    plain = verb.removesuffix("n't") if is_negation(verb) else verb
    plain = {"wo": "will", "ca": "can", "ai": "is"}.get(plain, plain)
    is_pair = (plain in _BE_AND_MODALS and subject in _THIRD) or (plain in _DO and subject in _PLURAL)
    return 2 if is_pair else 0
